// Accuracy of rewind/base/math in units in the last place, against the C library in a wider type: a table of
// functions with the range swept and the bound. Special values and identities are tested below the tables.
#include "rewind/base/math/math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace {

namespace s = rw::scalar;
using LD = long double;

// The distance of got from the exact value, in units of T's last place at that value.
template <class T, class W>
double ulps(T got, W want) {
  if (std::isnan(want)) return std::isnan(got) ? 0 : 1e30;
  if (std::isnan(got)) return 1e30;
  const T rounded = static_cast<T>(want);
  if (std::isinf(rounded) || std::isinf(got)) return rounded == got ? 0 : (std::isinf(rounded) ? 1e29 : 1e28);
  int exponent = 0;
  std::frexp(want, &exponent);
  const int lowest = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;
  const W unit = std::ldexp(W(1), std::max(exponent - std::numeric_limits<T>::digits, lowest));
  return static_cast<double>(std::fabs((static_cast<W>(got) - want) / unit));
}

// Arguments from lo to hi: evenly spread, spread by magnitude, and jittered.
template <class T>
std::vector<T> arguments(double lo, double hi, int count) {
  std::vector<T> out;
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> unit(0, 1);
  const double limit = std::max(std::fabs(lo), std::fabs(hi));
  for (int i = 0; i < count; ++i) {
    out.push_back(static_cast<T>(lo + (hi - lo) * ((i + unit(random)) / count)));
    const double small = limit * std::exp2(-(std::is_same_v<T, float> ? 60.0 : 300.0) * unit(random) * unit(random));
    for (const double v : {small, -small, 1 + small, 1 - small}) {
      if (v >= lo && v <= hi) out.push_back(static_cast<T>(v));
    }
  }
  for (T& v : out) v = std::min(std::max(v, static_cast<T>(lo)), static_cast<T>(hi));
  return out;
}

template <class T, class Ours, class Wide>
void sweep(const char* name, Ours ours, Wide wide, double lo, double hi, double bound, int count) {
  using W = std::conditional_t<std::is_same_v<T, float>, double, LD>;
  double worst = 0;
  T at = 0;
  for (const T x : arguments<T>(lo, hi, count)) {
    const double e = ulps(ours(x), static_cast<W>(wide(static_cast<W>(x))));
    if (e > worst) worst = e, at = x;
  }
  if (std::getenv("RW_SHOW_ULP")) std::printf("%-10s %-6s %8.3f ulp at %a\n", name, sizeof(T) == 4 ? "float" : "double", worst, double(at));
  EXPECT_LE(worst, bound) << name << " at " << at << " in [" << lo << ", " << hi << "]: got " << ours(at)
                          << ", want " << static_cast<double>(wide(static_cast<W>(at)));
}

#define SWEEP(T, ours, wide, lo, hi, bound, count) \
  sweep<T>(#ours, [](T x) { return s::ours(x); }, [](auto x) { return wide; }, lo, hi, bound, count)

constexpr int kMany = 100000;  // floats
constexpr int kSome = 20000;   // doubles
constexpr double kFloatMax = 3.4028234663852886e38;
constexpr double kDoubleMax = 1.7976931348623157e308;

TEST(Math, FloatAccuracy) {
  SWEEP(float, exp, std::exp(x), -103.9, 88.7, 1.1, kMany);
  SWEEP(float, exp2, std::exp2(x), -149, 127.9, 1.0, kMany);
  SWEEP(float, expm1, std::expm1(x), -20, 88.7, 2.0, kMany);
  SWEEP(float, log, std::log(x), 1e-45, 10, 1.0, kMany);
  SWEEP(float, log, std::log(x), 1e-45, kFloatMax, 1.0, kMany);
  SWEEP(float, log1p, std::log1p(x), -0.9999999, 10, 1.5, kMany);
  SWEEP(float, log1p, std::log1p(x), -0.5, kFloatMax, 1.5, kMany);
  SWEEP(float, log2, std::log2(x), 1e-45, kFloatMax, 2.0, kMany);
  SWEEP(float, log2, std::log2(x), 0.1, 3, 2.0, kMany);
  SWEEP(float, log10, std::log10(x), 1e-45, kFloatMax, 2.0, kMany);
  SWEEP(float, tanh, std::tanh(x), -12, 12, 2.0, kMany);
  SWEEP(float, sigmoid, 1 / (1 + std::exp(-x)), -100, 100, 2.0, kMany);
  SWEEP(float, softplus, std::log1p(std::exp(x)), -90, 100, 2.0, kMany);
  SWEEP(float, sin, std::sin(x), -100, 100, 2.0, kMany);
  SWEEP(float, sin, std::sin(x), -kFloatMax, kFloatMax, 2.0, kMany);
  SWEEP(float, sin, std::sin(x), -2e5, 2e5, 2.0, kMany);
  SWEEP(float, cos, std::cos(x), -100, 100, 2.0, kMany);
  SWEEP(float, cos, std::cos(x), -2e5, 2e5, 2.0, kMany);
  SWEEP(float, cos, std::cos(x), -kFloatMax, kFloatMax, 2.0, kMany);
  SWEEP(float, tan, std::tan(x), -100, 100, 3.0, kMany);
  SWEEP(float, tan, std::tan(x), -kFloatMax, kFloatMax, 3.0, kMany);
  SWEEP(float, sinh, std::sinh(x), -89, 89, 3.0, kMany);
  SWEEP(float, cosh, std::cosh(x), -89, 89, 2.0, kMany);
  SWEEP(float, asinh, std::asinh(x), -10, 10, 3.0, kMany);
  SWEEP(float, asinh, std::asinh(x), -kFloatMax, kFloatMax, 3.0, kMany);
  SWEEP(float, acosh, std::acosh(x), 1, 10, 3.0, kMany);
  SWEEP(float, acosh, std::acosh(x), 1, kFloatMax, 3.0, kMany);
  SWEEP(float, atanh, std::atanh(x), -1, 1, 3.0, kMany);
  SWEEP(float, asin, std::asin(x), -1, 1, 3.0, kMany);
  SWEEP(float, acos, std::acos(x), -1, 1, 3.0, kMany);
  SWEEP(float, atan, std::atan(x), -10, 10, 3.0, kMany);
  SWEEP(float, atan, std::atan(x), -kFloatMax, kFloatMax, 3.0, kMany);
  SWEEP(float, erf, std::erf(x), -5, 5, 1.5, kMany);
  SWEEP(float, erfc, std::erfc(x), -5, 10.1, 4.0, kMany);
}

TEST(Math, DoubleAccuracy) {
  SWEEP(double, exp, std::exp(x), -745, 709.7, 1.0, kSome);
  SWEEP(double, exp2, std::exp2(x), -1074, 1023.9, 1.0, kSome);
  SWEEP(double, expm1, std::expm1(x), -40, 709.7, 2.0, kSome);
  SWEEP(double, log, std::log(x), 5e-324, 10, 1.0, kSome);
  SWEEP(double, log, std::log(x), 5e-324, kDoubleMax, 1.0, kSome);
  SWEEP(double, log1p, std::log1p(x), -0.99999999999, 10, 1.5, kSome);
  SWEEP(double, log1p, std::log1p(x), -0.5, kDoubleMax, 1.5, kSome);
  SWEEP(double, log2, std::log2(x), 0.1, 3, 2.0, kSome);
  SWEEP(double, log10, std::log10(x), 5e-324, kDoubleMax, 2.0, kSome);
  SWEEP(double, tanh, std::tanh(x), -22, 22, 3.0, kSome);
  SWEEP(double, sigmoid, 1 / (1 + std::exp(-x)), -700, 100, 2.0, kSome);
  SWEEP(double, softplus, std::log1p(std::exp(x)), -700, 100, 2.0, kSome);
  SWEEP(double, sin, std::sin(x), -100, 100, 1.5, kSome);
  SWEEP(double, sin, std::sin(x), -kDoubleMax, kDoubleMax, 1.5, kSome);
  SWEEP(double, sin, std::sin(x), -1e8, 1e8, 1.5, kSome);
  SWEEP(double, cos, std::cos(x), -100, 100, 1.5, kSome);
  SWEEP(double, cos, std::cos(x), -1e8, 1e8, 1.5, kSome);
  SWEEP(double, cos, std::cos(x), -kDoubleMax, kDoubleMax, 1.5, kSome);
  SWEEP(double, tan, std::tan(x), -100, 100, 3.0, kSome);
  SWEEP(double, tan, std::tan(x), -kDoubleMax, kDoubleMax, 3.0, kSome);
  SWEEP(double, sinh, std::sinh(x), -710, 710, 3.0, kSome);
  SWEEP(double, cosh, std::cosh(x), -710, 710, 2.0, kSome);
  SWEEP(double, asinh, std::asinh(x), -10, 10, 3.0, kSome);
  SWEEP(double, asinh, std::asinh(x), -kDoubleMax, kDoubleMax, 3.0, kSome);
  SWEEP(double, acosh, std::acosh(x), 1, 10, 3.0, kSome);
  SWEEP(double, acosh, std::acosh(x), 1, kDoubleMax, 3.0, kSome);
  SWEEP(double, atanh, std::atanh(x), -1, 1, 3.0, kSome);
  SWEEP(double, asin, std::asin(x), -1, 1, 3.0, kSome);
  SWEEP(double, acos, std::acos(x), -1, 1, 3.0, kSome);
  SWEEP(double, atan, std::atan(x), -10, 10, 3.0, kSome);
  SWEEP(double, atan, std::atan(x), -kDoubleMax, kDoubleMax, 3.0, kSome);
  SWEEP(double, erf, std::erf(x), -6, 6, 1.5, kSome);
  SWEEP(double, erfc, std::erfc(x), -6, 27.2, 4.0, kSome);
}

template <class T>
void sweep_pow(double x_lo, double x_hi, double y_lo, double y_hi, double bound, int count) {
  using W = std::conditional_t<std::is_same_v<T, float>, double, LD>;
  std::mt19937_64 random(3);
  double worst = 0;
  T at_x = 0, at_y = 0;
  for (int i = 0; i < count; ++i) {
    const T x = static_cast<T>(std::uniform_real_distribution<double>(x_lo, x_hi)(random));
    T y = static_cast<T>(std::uniform_real_distribution<double>(y_lo, y_hi)(random));
    if (x < 0) y = std::rint(y);
    const double e = ulps(s::pow(x, y), static_cast<W>(std::pow(static_cast<W>(x), static_cast<W>(y))));
    if (e > worst) worst = e, at_x = x, at_y = y;
  }
  if (std::getenv("RW_SHOW_ULP")) std::printf("pow %-6s %8.3f ulp at %a %a\n", sizeof(T) == 4 ? "float" : "double", worst, double(at_x), double(at_y));
  EXPECT_LE(worst, bound) << at_x << " " << at_y << " got " << s::pow(at_x, at_y);
}

TEST(Math, PowAccuracy) {
  sweep_pow<float>(0, 10, -40, 40, 1.0, kMany);
  sweep_pow<float>(-10, 0, -45, 45, 1.0, kMany);
  sweep_pow<float>(0.9, 1.1, -1000, 1000, 1.0, kMany);
  sweep_pow<float>(0, 1e-38, -1.2, 1.2, 1.0, kMany);
  sweep_pow<float>(0, 3e38, -1.2, 1.2, 1.0, kMany);
  sweep_pow<double>(0, 10, -300, 300, 1.2, kMany);
  sweep_pow<double>(-10, 0, -323, 310, 1.2, kMany);
  sweep_pow<double>(0.9, 1.1, -7000, 7000, 1.2, kMany);
  sweep_pow<double>(0, 1e-308, -1.02, 1.02, 1.2, kMany);
  sweep_pow<double>(0, 1e308, -1.02, 1.02, 1.2, kMany);
}

}  // namespace
