#include "rewind/format/text_lexer.h"

#include <charconv>
#include <limits>
#include <vector>

#include "rewind/base/ascii.h"
#include "rewind/base/error.h"
#include "rewind/base/number_text.h"
#include "rewind/format/utf8.h"

namespace rw::format {
namespace {

bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '+' || c == '-';
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The value of a word with an optional 0x or octal 0; false when it is no integer or leaves 64 bits.
bool parse_natural(std::string_view digits, uint64_t* value) {
  int base = 10;
  if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) {
    base = 16;
    digits.remove_prefix(2);
  } else if (digits.size() > 1 && digits[0] == '0') {
    base = 8;
    digits.remove_prefix(1);
  }
  const char* const begin = digits.data();
  const char* const end = begin + digits.size();
  const auto [p, error] = std::from_chars(begin, end, *value, base);
  return error == std::errc() && p == end;
}

}  // namespace

void TextLexer::skip_space() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '#') {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else if (c == ' ' || (c >= '\t' && c <= '\r')) {
      ++at_;
    } else {
      break;
    }
  }
  word_begin_ = at_;
}

void TextLexer::fail(const std::string& message) const {
  size_t line = 1, column = 1;
  for (size_t i = 0; i < word_begin_ && i < text_.size(); ++i) {
    ++column;
    if (text_[i] == '\n') {
      ++line;
      column = 1;
    }
  }
  throw InvalidArgumentError("[from_text] line " + std::to_string(line) + ", column " +
                             std::to_string(column) + ": " + message);
}

bool TextLexer::at_end() {
  skip_space();
  return at_ == text_.size();
}

bool TextLexer::next_is(char punctuation) {
  skip_space();
  return at_ < text_.size() && text_[at_] == punctuation;
}

bool TextLexer::accept(char punctuation) {
  if (!next_is(punctuation)) return false;
  ++at_;
  return true;
}

void TextLexer::expect(char punctuation) {
  if (!accept(punctuation)) fail(std::string("expected '") + punctuation + "'");
}

std::string_view TextLexer::word() {
  skip_space();
  const size_t begin = at_;
  while (at_ < text_.size() && is_word_char(text_[at_])) ++at_;
  if (begin == at_) fail(at_ == text_.size() ? "the text ends early" : "expected a name or a value");
  return text_.substr(begin, at_ - begin);
}

std::string TextLexer::string() {
  if (!next_is('"') && !next_is('\'')) fail("expected a string in quotes");
  std::string value;
  while (next_is('"') || next_is('\'')) literal(&value);
  return value;
}

void TextLexer::literal(std::string* out) {
  const char quote = text_[at_++];
  while (at_ < text_.size() && text_[at_] != quote) {
    const char c = text_[at_++];
    if (c == '\n') fail("a string ends in its line");
    if (c == '\\') escape(out);
    else *out += c;
  }
  if (at_ == text_.size()) fail("a string without its closing quote");
  ++at_;
}

void TextLexer::escape(std::string* out) {
  if (at_ == text_.size()) fail("a string without its closing quote");
  const char c = text_[at_++];
  static constexpr std::string_view kLetters = "abfnrtv\\'\"?", kMeanings = "\a\b\f\n\r\t\v\\'\"?";
  if (const size_t i = kLetters.find(c); i != std::string_view::npos) {
    *out += kMeanings[i];
    return;
  }
  if (c >= '0' && c <= '7') {
    int value = c - '0';
    for (int i = 0; i < 2 && at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '7'; ++i)
      value = value * 8 + (text_[at_++] - '0');
    if (value > 255) fail("an octal escape beyond \\377");
    *out += char(value);
    return;
  }
  const int most = c == 'x' || c == 'X' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
  uint32_t value = 0;
  int digits = 0;
  for (; digits < most && at_ < text_.size() && hex_digit(text_[at_]) >= 0; ++digits)
    value = value * 16 + uint32_t(hex_digit(text_[at_++]));
  if (digits == 0 || (most > 2 && digits != most)) fail(std::string("unknown escape \\") + c);
  if (most == 2) *out += char(value);
  else if (value > 0x10ffff) fail("an escape beyond Unicode");
  else append_utf8(out, value);
}

int64_t TextLexer::integer(int64_t low, int64_t high) {
  std::string_view w = word();
  const bool negative = w[0] == '-';
  if (negative) w.remove_prefix(1);
  uint64_t magnitude = 0;
  if (!parse_natural(w, &magnitude)) fail("expected an integer");
  const uint64_t limit = negative ? uint64_t(0) - uint64_t(low) : uint64_t(high);
  if (magnitude > limit) fail("an integer out of range");
  return negative ? int64_t(uint64_t(0) - magnitude) : int64_t(magnitude);
}

uint64_t TextLexer::natural(uint64_t high) {
  uint64_t value = 0;
  if (!parse_natural(word(), &value)) fail("expected an integer that is not negative");
  if (value > high) fail("an integer out of range");
  return value;
}

namespace {

// Other spellings that C has, such as hexadecimal ones, are not protobuf's.
template <class T>
bool parse_float(std::string_view word, T* value) {
  std::string text = ascii::to_lower(std::string(word));
  const bool negative = text[0] == '-';
  const std::string_view rest = std::string_view(text).substr(negative);
  if (rest == "inf" || rest == "infinity" || rest == "nan") {
    *value = rest == "nan" ? std::numeric_limits<T>::quiet_NaN() : std::numeric_limits<T>::infinity();
    if (negative) *value = -*value;
    return true;
  }
  if (text.size() > 1 && text.back() == 'f') text.pop_back();
  if (text.find_first_not_of("0123456789.e+-") != std::string::npos) return false;
  return parse_number(text, value);
}

}  // namespace

float TextLexer::number32() {
  float value = 0;
  if (!parse_float(word(), &value)) fail("expected a number");
  return value;
}

double TextLexer::number64() {
  double value = 0;
  if (!parse_float(word(), &value)) fail("expected a number");
  return value;
}

bool TextLexer::boolean() {
  const std::string_view w = word();
  if (w == "true" || w == "True" || w == "t" || w == "1") return true;
  if (w == "false" || w == "False" || w == "f" || w == "0") return false;
  fail("expected true or false");
}

void TextLexer::skip_value() {
  accept(':');
  std::vector<char> open;
  do {
    if (at_end()) fail("the text ends early");
    if (next_is('"') || next_is('\'')) string();
    else if (accept('{')) open.push_back('}');
    else if (accept('<')) open.push_back('>');
    else if (accept('[')) open.push_back(']');
    else if (!open.empty() && accept(open.back())) open.pop_back();
    else if (!open.empty() && (accept(':') || accept(',') || accept(';'))) continue;
    else word();
  } while (!open.empty());
}

std::string float_text(float value) { return round_trip_text(value); }
std::string float_text(double value) { return round_trip_text(value); }

std::string string_text(std::string_view value, bool is_text) {
  std::string out = "\"";
  for (const char c : value) {
    switch (c) {
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '"': out += "\\\""; break;
      case '\'': out += "\\'"; break;
      case '\\': out += "\\\\"; break;
      default: {
        const auto byte = static_cast<unsigned char>(c);
        if ((byte >= 0x20 && byte < 0x7f) || (is_text && byte >= 0x80)) {
          out += c;
        } else {
          out += "\\" + natural_text(byte, 8, 3);
        }
      }
    }
  }
  return out + "\"";
}

}  // namespace rw::format
