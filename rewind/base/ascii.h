// Classes and cases of ASCII characters: those of <cctype> are the locale's.
#pragma once

#include <string>

namespace rw::ascii {

constexpr bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_letter_or_digit(char c) { return is_upper(c) || is_lower(c) || is_digit(c); }

constexpr char to_lower(char c) { return is_upper(c) ? char(c - 'A' + 'a') : c; }
constexpr char to_upper(char c) { return is_lower(c) ? char(c - 'a' + 'A') : c; }

inline std::string to_lower(std::string text) {
  for (char& c : text) c = to_lower(c);
  return text;
}
inline std::string to_upper(std::string text) {
  for (char& c : text) c = to_upper(c);
  return text;
}

}  // namespace rw::ascii
