#include "rewind/tensor/float_text.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "rewind/base/number_text.h"

namespace rw {
namespace {

// Digits d[0].d[1]d[2]... times 10^exponent; no trailing zeros; "0" for zero.
struct Decimal {
  std::string digits;
  int exponent = 0;
};

// That of a text with an 'e'.
int exponent_of(std::string_view text) {
  int32_t exponent = 0;
  parse_number(text.substr(text.find('e') + 1), &exponent);
  return exponent;
}

double number_in(std::string_view text) {
  double number = 0;
  read_number(text, &number);
  return number;
}

Decimal parse_scientific(std::string_view text) {
  Decimal d;
  size_t i = 0;
  for (; i < text.size() && text[i] != 'e'; ++i)
    if (text[i] != '.') d.digits += text[i];
  if (i < text.size()) d.exponent = exponent_of(text);
  while (d.digits.size() > 1 && d.digits.back() == '0') d.digits.pop_back();
  if (d.digits == "0") d.exponent = 0;
  return d;
}

// The fewest digits of a half: there is no library call, and five always suffice. Just above a power of two
// the numbers lie wider apart than below, so that rounding up may read back where rounding to the nearest
// does not.
Decimal shortest_half(double x) {
  std::string text;
  const auto reads_back = [&] { return float(Half(float(number_in(text)))) == float(x); };
  for (int n = 0; n < 5; ++n) {
    text = exponential_text(x, n);
    if (reads_back()) break;
    const Decimal near = parse_scientific(text);
    text = exponential_text(number_in(text) + std::pow(10.0, near.exponent - n), n);
    if (reads_back()) break;
  }
  return parse_scientific(text);
}

Decimal shortest(double x, DType dtype) {
  if (dtype == DType::kFloat16) return shortest_half(x);
  char text[40];
  const auto end = dtype == DType::kFloat32
                       ? std::to_chars(text, text + sizeof text, float(x), std::chars_format::scientific)
                       : std::to_chars(text, text + sizeof text, x, std::chars_format::scientific);
  return parse_scientific({text, size_t(end.ptr - text)});
}

void trim_zeros(std::string* text) {
  while (!text->empty() && text->back() == '0') text->pop_back();
}

std::string exponent_text(int exponent) {
  return (exponent < 0 ? "e-" : "e+") + natural_text(uint64_t(std::abs(exponent)), 10, 2);
}

}  // namespace

std::string positional_text(double x, DType dtype, int precision) {
  x = std::fabs(x);
  const Decimal d = shortest(x, dtype);
  const int behind = int(d.digits.size()) - 1 - d.exponent;  // digits behind the point
  if (precision >= 0 && behind > precision) {
    std::string text = fixed_text(x, precision);
    if (precision == 0) return text + ".";
    trim_zeros(&text);
    return text;
  }
  if (d.exponent < 0)
    return "0." + (d.digits == "0" ? "" : std::string(size_t(-d.exponent - 1), '0') + d.digits);
  if (behind <= 0) return d.digits + std::string(size_t(-behind), '0') + ".";
  return d.digits.substr(0, size_t(d.exponent) + 1) + "." + d.digits.substr(size_t(d.exponent) + 1);
}

std::string scientific_text(double x, DType dtype, int precision) {
  x = std::fabs(x);
  Decimal d = shortest(x, dtype);
  if (precision >= 0 && int(d.digits.size()) - 1 > precision)
    d = parse_scientific(exponential_text(x, precision));
  return d.digits.substr(0, 1) + "." + d.digits.substr(1) + exponent_text(d.exponent);
}

std::string exact_scientific_text(double x, int digits) {
  const std::string text = exponential_text(std::fabs(x), digits);
  return text.substr(0, text.find('e')) + (digits == 0 ? "." : "") + exponent_text(exponent_of(text));
}

std::string scalar_text(double x, DType dtype) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x < 0 ? "-inf" : "inf";
  const std::string sign = std::signbit(x) ? "-" : "";
  const double size = std::fabs(x);
  if (dtype == DType::kBfloat16) return general_text(x);
  const double upper = dtype == DType::kFloat64 ? 1e16 : dtype == DType::kFloat32 ? 1e6 : 1e3;
  if (size == 0 || (size >= 1e-4 && size < upper)) {
    const std::string text = positional_text(x, dtype, -1);
    return sign + text + (text.back() == '.' ? "0" : "");
  }
  std::string text = scientific_text(x, dtype, -1);
  if (const size_t dot = text.find(".e"); dot != std::string::npos) text.erase(dot, 1);
  return sign + text;
}

std::string complex_scalar_text(double real, double imaginary, DType part) {
  const auto text = [&](double x) {
    std::string s = scalar_text(x, part);
    if (s.ends_with(".0")) s.resize(s.size() - 2);
    return s;
  };
  return complex_text(text(real), text(imaginary));
}

std::string bytes_text(const std::string& bytes) {
  const bool twice = bytes.find('\'') != std::string::npos && bytes.find('"') == std::string::npos;
  const char quote = twice ? '"' : '\'';
  std::string text = "b";
  text += quote;
  for (const char c : bytes) {
    const auto u = static_cast<unsigned char>(c);
    if (c == quote || c == '\\') {
      text += '\\';
      text += c;
    } else if (c == '\t') {
      text += "\\t";
    } else if (c == '\n') {
      text += "\\n";
    } else if (c == '\r') {
      text += "\\r";
    } else if (u < 0x20 || u >= 0x7f) {
      text += "\\x" + natural_text(u, 16, 2);
    } else {
      text += c;
    }
  }
  return text + quote;
}

}  // namespace rw
