// Words of protobuf's text format, and how numbers and strings are spelled in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rw::format {

class TextLexer {
 public:
  explicit TextLexer(std::string_view text) : text_(text) {}

  bool at_end();
  // One of { } < > [ ] : , ; when it comes next.
  bool accept(char punctuation);
  bool next_is(char punctuation);
  void expect(char punctuation);
  // A name or a number, with its sign.
  std::string_view word();
  // One or more literals in a row, unescaped.
  std::string string();

  int64_t integer(int64_t low, int64_t high);
  uint64_t natural(uint64_t high);
  float number32();
  double number64();
  bool boolean();

  // Passes over whatever value stands behind a field's name.
  void skip_value();

  // Throws InvalidArgumentError with line and column of the last word.
  [[noreturn]] void fail(const std::string& message) const;

 private:
  void skip_space();
  void literal(std::string* out);
  void escape(std::string* out);

  std::string_view text_;
  size_t at_ = 0;
  size_t word_begin_ = 0;
};

// "0.1", "1e+06", "nan": the shorter of two fixed precisions that gives the same bits when read.
std::string float_text(float value);
std::string float_text(double value);
// In quotes; bytes beyond ASCII are escaped, or kept when the field is text.
std::string string_text(std::string_view value, bool is_text);

}  // namespace rw::format
