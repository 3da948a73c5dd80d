#include "rewind/base/number_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>
#include <type_traits>

#include "rewind/base/ascii.h"

namespace rw {
namespace {

std::string text_of(double x, std::chars_format format, int digits) {
  // A fixed notation has at most 309 digits in front of the point.
  std::string text(size_t(std::max(digits, 0)) + (format == std::chars_format::fixed ? 320 : 32), '\0');
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), x, format, digits);
  text.resize(size_t(end - text.data()));
  return text;
}

template <class T>
std::string shorter_text(T x, int digits, int enough) {
  if (std::isnan(x)) return "nan";
  const std::string text = general_text(double(x), digits);
  T read = 0;
  return read_number(text, &read) == text.size() && read == x ? text : general_text(double(x), enough);
}

// Whether a decimal number that a type cannot hold is too large, and not too small.
bool is_large(std::string_view decimal) {
  // The power of ten of the first digit that is not 0.
  int64_t power = -1;
  bool counting = false, behind_point = false;
  size_t i = 0;
  for (; i < decimal.size(); ++i) {
    const char c = decimal[i];
    if (c == '.') behind_point = true;
    else if (!ascii::is_digit(c)) break;
    else if (counting || c != '0') {
      counting = true;
      power += !behind_point;
    } else {
      power -= behind_point;
    }
  }
  if (!counting) return false;
  int64_t exponent = 0;
  if (i < decimal.size()) {
    const bool negative = decimal[i + 1] == '-';
    i += 1 + (negative || decimal[i + 1] == '+');
    for (; i < decimal.size(); ++i)
      exponent = std::min<int64_t>(exponent * 10 + (decimal[i] - '0'), int64_t{1} << 40);
    if (negative) exponent = -exponent;
  }
  return power + exponent > 0;
}

// Unsigned, as std::from_chars reads it; hexadecimal digits come without their 0x.
template <class T>
size_t read_unsigned(std::string_view text, std::chars_format format, T* value) {
  if (text.empty() || text[0] == '-') return 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value, format);
  if (error == std::errc::invalid_argument) return 0;
  const auto length = size_t(end - text.data());
  if (error != std::errc::result_out_of_range) return length;
  bool large = false;
  if (format == std::chars_format::hex) {
    // Numbers this far out have an exponent, and it decides unless the digits are many thousands.
    const size_t p = text.substr(0, length).find_first_of("pP");
    large = p == std::string_view::npos || text[p + 1] != '-';
  } else {
    large = is_large(text.substr(0, length));
  }
  *value = large ? std::numeric_limits<T>::infinity() : T(0);
  return length;
}

template <class T>
size_t read_signed(std::string_view text, T* value) {
  const bool sign = !text.empty() && (text[0] == '-' || text[0] == '+');
  const std::string_view rest = text.substr(sign);
  T read = 0;
  size_t length = 0;
  if (rest.size() > 2 && rest[0] == '0' && ascii::to_lower(rest[1]) == 'x')
    if (const size_t hex = read_unsigned(rest.substr(2), std::chars_format::hex, &read);
        hex > 0 && !std::isnan(read) && ascii::to_lower(rest[2]) != 'i')
      length = hex + 2;
  if (length == 0) length = read_unsigned(rest, std::chars_format::general, &read);
  if (length == 0) return 0;
  *value = sign && text[0] == '-' ? -read : read;
  return length + sign;
}

}  // namespace

std::string fixed_text(double x, int digits) { return text_of(x, std::chars_format::fixed, digits); }
std::string exponential_text(double x, int digits) {
  return text_of(x, std::chars_format::scientific, digits);
}
std::string general_text(double x, int digits) { return text_of(x, std::chars_format::general, digits); }

std::string round_trip_text(float x) { return shorter_text(x, 6, 9); }
std::string round_trip_text(double x) { return shorter_text(x, 15, 17); }

std::string complex_text(const std::string& real, const std::string& imaginary) {
  if (real == "0") return imaginary + "j";
  return "(" + real + (imaginary[0] == '-' ? "" : "+") + imaginary + "j)";
}

std::string natural_text(uint64_t x, int base, size_t least) {
  char digits[64];
  const auto end = std::to_chars(digits, digits + sizeof digits, x, base).ptr;
  const auto count = size_t(end - digits);
  return std::string(least > count ? least - count : 0, '0').append(digits, count);
}

std::string right_aligned(std::string text, size_t width) {
  if (text.size() < width) text.insert(0, width - text.size(), ' ');
  return text;
}

size_t read_number(std::string_view text, float* value) { return read_signed(text, value); }
size_t read_number(std::string_view text, double* value) { return read_signed(text, value); }

template <class T>
bool parse_number(std::string_view text, T* value) {
  T read = 0;
  if constexpr (std::is_floating_point_v<T>) {
    if (text.empty() || read_number(text, &read) != text.size()) return false;
  } else {
    if (text.size() > 1 && text[0] == '+' && ascii::is_digit(text[1])) text.remove_prefix(1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read);
    if (error != std::errc() || end != text.data() + text.size()) return false;
  }
  *value = read;
  return true;
}

template bool parse_number(std::string_view, float*);
template bool parse_number(std::string_view, double*);
template bool parse_number(std::string_view, int32_t*);
template bool parse_number(std::string_view, int64_t*);
template bool parse_number(std::string_view, uint32_t*);
template bool parse_number(std::string_view, uint64_t*);

}  // namespace rw
