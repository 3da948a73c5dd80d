// Reads JSON from the front, value by value, strictly (RFC 8259): for headers of files whose shape is known.
// Whoever reads says what comes next; anything else is refused with its place.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace rw::format {

class JsonCursor {
 public:
  // `fail(byte, what)` must throw; bytes count from the beginning of `text`, which must outlive the cursor.
  using Fail = std::function<void(size_t, const std::string&)>;
  JsonCursor(std::string_view text, Fail fail) : text_(text), fail_(std::move(fail)) {}

  // Passes over white space.
  bool try_take(char c);
  void expect(char c);
  bool at_end();
  std::string string();
  // A number that fits uint64, written without sign, fraction and exponent.
  uint64_t whole_number();
  // Any value.
  void skip_value();
  // The first character of what comes next, which stays; and the letters, digits, signs and points there.
  char peek();
  std::string_view word();

  // Calls member(name) at the value of each member of an object; names must differ.
  void object(const std::function<void(const std::string&)>& member);
  void array(const std::function<void()>& element);

  size_t at() const { return at_; }
  [[noreturn]] void fail(size_t at, const std::string& what) const;

 private:
  void pass_space();
  uint32_t code_unit();
  void skip(int depth);

  std::string_view text_;
  Fail fail_;
  size_t at_ = 0;
};

// With its quotes; everything that JSON asks for is escaped.
std::string json_string(std::string_view text);

}  // namespace rw::format
