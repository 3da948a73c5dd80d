#include "rewind/format/json_cursor.h"

#include <unordered_set>

#include "rewind/base/error.h"
#include "rewind/base/number_text.h"
#include "rewind/format/utf8.h"

namespace rw::format {
namespace {

constexpr int kMaxNesting = 64;

}  // namespace

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += "\\u" + natural_text(static_cast<unsigned char>(c), 16, 4);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

void JsonCursor::fail(size_t at, const std::string& what) const {
  fail_(at, what);
  fail_internal(__FILE__, __LINE__, "fail must throw");
}

void JsonCursor::pass_space() {
  while (at_ < text_.size() &&
         (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
    ++at_;
}

bool JsonCursor::at_end() {
  pass_space();
  return at_ == text_.size();
}

char JsonCursor::peek() {
  if (at_end()) fail(at_, "the JSON text ends too early");
  return text_[at_];
}

std::string_view JsonCursor::word() {
  peek();
  const auto belongs = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' ||
           c == '-' || c == '.';
  };
  const size_t begin = at_;
  while (at_ < text_.size() && belongs(text_[at_])) ++at_;
  return text_.substr(begin, at_ - begin);
}

bool JsonCursor::try_take(char c) {
  if (at_end() || text_[at_] != c) return false;
  ++at_;
  return true;
}

void JsonCursor::expect(char c) {
  if (peek() != c) fail(at_, std::string("expected '") + c + "' in the JSON text");
  ++at_;
}

uint32_t JsonCursor::code_unit() {
  uint32_t code = 0;
  for (int i = 0; i < 4; ++i, ++at_) {
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) fail(at_, "\\u must be followed by four hexadecimal digits");
    code = code << 4 | uint32_t(digit);
  }
  return code;
}

std::string JsonCursor::string() {
  expect('"');
  const size_t begin = at_;
  std::string out;
  for (;;) {
    if (at_ >= text_.size()) fail(at_, "a string is not closed");
    const char c = text_[at_];
    if (static_cast<unsigned char>(c) < 0x20) fail(at_, "a control character in a string");
    ++at_;
    if (c == '"') break;
    if (c != '\\') {
      out += c;
      continue;
    }
    const char e = at_ < text_.size() ? text_[at_++] : '\0';
    constexpr std::string_view kEscapes = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (e == 'u') {
      const size_t unit_at = at_ - 2;
      uint32_t code = code_unit();
      if (code >= 0xd800 && code < 0xdc00 && text_.substr(at_, 2) == "\\u") {
        at_ += 2;
        const uint32_t low = code_unit();
        if (low < 0xdc00 || low >= 0xe000) fail(unit_at, "half of a surrogate pair");
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
      }
      if (code >= 0xd800 && code < 0xe000) fail(unit_at, "half of a surrogate pair");
      append_utf8(&out, code);
    } else if (const size_t k = kEscapes.find(e); k != std::string_view::npos && e != '\0') {
      out += kMeanings[k];
    } else {
      fail(at_ - 1, "an unknown escape in a string");
    }
  }
  if (!is_utf8(out)) fail(begin, "a string that is not UTF-8");
  return out;
}

uint64_t JsonCursor::whole_number() {
  peek();
  const size_t begin = at_;
  uint64_t value = 0;
  for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
    if (__builtin_mul_overflow(value, uint64_t{10}, &value) ||
        __builtin_add_overflow(value, uint64_t(text_[at_] - '0'), &value))
      fail(begin, "a number beyond 64 bits");
  const bool zeros = at_ > begin + 1 && text_[begin] == '0';
  const bool more = at_ < text_.size() && (text_[at_] == '.' || text_[at_] == 'e' || text_[at_] == 'E');
  if (at_ == begin || zeros || more) fail(begin, "expected a whole number that is not negative");
  return value;
}

void JsonCursor::object(const std::function<void(const std::string&)>& member) {
  expect('{');
  std::unordered_set<std::string> seen;
  if (try_take('}')) return;
  do {
    peek();
    const size_t begin = at_;
    const std::string name = string();
    if (!seen.insert(name).second) fail(begin, "the name \"" + name + "\" stands there twice");
    expect(':');
    member(name);
  } while (try_take(','));
  expect('}');
}

void JsonCursor::array(const std::function<void()>& element) {
  expect('[');
  if (try_take(']')) return;
  do element();
  while (try_take(','));
  expect(']');
}

void JsonCursor::skip_value() { skip(0); }

void JsonCursor::skip(int depth) {
  if (depth > kMaxNesting) fail(at_, "values nested too deeply");
  const char c = peek();
  if (c == '{') return object([&](const std::string&) { skip(depth + 1); });
  if (c == '[') return array([&] { skip(depth + 1); });
  if (c == '"') return void(string());
  for (const std::string_view word : {"true", "false", "null"}) {
    if (text_.substr(at_, word.size()) != word) continue;
    at_ += word.size();
    return;
  }
  const size_t begin = at_;
  while (at_ < text_.size() && std::string_view("+-.0123456789eE").find(text_[at_]) != std::string_view::npos)
    ++at_;
  if (at_ == begin) fail(at_, "expected a value in the JSON text");
}

}  // namespace rw::format
