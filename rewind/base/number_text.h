// Numbers as text and back, the same under every locale. printf, strtod, streams and std::to_string take the
// decimal point and the grouping of digits from setlocale() or std::locale::global(), which belong to the
// program; the library goes through this file instead (tools/check_locale.py).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace rw {

// As printf writes a double by "%.*f", "%.*e" and "%.*g", with "inf", "-inf", "nan" and "-nan".
std::string fixed_text(double x, int digits);
std::string exponential_text(double x, int digits);
std::string general_text(double x, int digits = 6);

// By "%g" with six significant digits if they read back as x, with nine otherwise; for doubles fifteen and
// seventeen. "nan" without a sign.
std::string round_trip_text(float x);
std::string round_trip_text(double x);

// The complex number of these parts, as Python writes it: "(1+2j)", and "2j" where the real part is "0".
std::string complex_text(const std::string& real, const std::string& imaginary);

// For messages: integers in full, other numbers by round_trip_text.
template <class T>
std::string number_text(T x) {
  if constexpr (std::is_integral_v<T>) return std::to_string(x);
  else return round_trip_text(x);
}

// With zeros in front up to `least` digits; base 2 to 16, letters in lower case.
std::string natural_text(uint64_t x, int base, size_t least = 1);

// Spaces in front, up to `width` bytes.
std::string right_aligned(std::string text, size_t width);

// Reads the number at the beginning of the text, as strtof and strtod do in the "C" locale: decimal, 0x and
// hexadecimal, inf or nan in any case. Numbers beyond the range become infinity, those below it zero. White
// space is not skipped. Returns the length of what was read; 0 if there is no number.
size_t read_number(std::string_view text, float* value);
size_t read_number(std::string_view text, double* value);

// Whether the whole text is one number in the range of T; integers are decimal. `value` is set only then.
// T: float, double, int32_t, int64_t, uint32_t, uint64_t.
template <class T>
bool parse_number(std::string_view text, T* value);

}  // namespace rw
