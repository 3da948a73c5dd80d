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

#include "rewind/base/float_mode.h"

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
    const double small =
        limit * std::exp2(-(std::is_same_v<T, float> ? 60.0 : 300.0) * unit(random) * unit(random));
    for (const double v : {small, -small, 1 + small, 1 - small}) {
      if (v >= lo && v <= hi) out.push_back(static_cast<T>(v));
    }
  }
  for (T& v : out) v = std::min(std::max(v, static_cast<T>(lo)), static_cast<T>(hi));
  return out;
}

// Of one result. On a thread that flushes denormals, a want below the normal numbers becomes 0 or the
// smallest of them.
template <class T, class W>
double error_of(T got, W want) {
  constexpr T kSmallest = std::numeric_limits<T>::min();
  const bool flushes = (rw::float_control() & rw::kFlush) != 0;
  if (flushes && want != 0 && std::fabs(want) < kSmallest)
    return got == 0 || std::fabs(got) == kSmallest ? 0 : 1e30;
  return ulps(got, want);
}

template <class T, class Ours, class Wide>
void sweep(const char* name, Ours ours, Wide wide, double lo, double hi, double bound, int count) {
  using W = std::conditional_t<std::is_same_v<T, float>, double, LD>;
  double worst = 0;
  T at = 0;
  for (const T x : arguments<T>(lo, hi, count)) {
    if ((rw::float_control() & rw::kFlush) != 0 && std::fpclassify(x) == FP_SUBNORMAL) continue;
    const double e = error_of(ours(x), static_cast<W>(wide(static_cast<W>(x))));
    if (e > worst) worst = e, at = x;
  }
  if (std::getenv("RW_SHOW_ULP"))
    std::printf("%-10s %-6s %8.3f ulp at %a\n", name, sizeof(T) == 4 ? "float" : "double", worst, double(at));
  EXPECT_LE(worst, bound) << name << " at " << at << " in [" << lo << ", " << hi << "]: got " << ours(at)
                          << ", want " << static_cast<double>(wide(static_cast<W>(at)));
}

#define SWEEP(T, ours, wide, lo, hi, bound, count) \
  sweep<T>(#ours, [](T x) { return s::ours(x); }, [](auto x) { return wide; }, lo, hi, bound, count)

constexpr int kMany = 100000;  // floats
constexpr int kSome = 20000;   // doubles
constexpr double kFloatMax = 3.4028234663852886e38;
constexpr double kDoubleMax = 1.7976931348623157e308;

void float_accuracy() {
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

TEST(Math, FloatAccuracy) { float_accuracy(); }
TEST(Math, FloatAccuracyWhereDenormalsAreFlushed) {
  const rw::KernelFloatMode mode;
  float_accuracy();
}

void double_accuracy() {
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

TEST(Math, DoubleAccuracy) { double_accuracy(); }
TEST(Math, DoubleAccuracyWhereDenormalsAreFlushed) {
  const rw::KernelFloatMode mode;
  double_accuracy();
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
    if ((rw::float_control() & rw::kFlush) != 0 && std::fpclassify(x) == FP_SUBNORMAL) continue;
    const double e = error_of(s::pow(x, y), static_cast<W>(std::pow(static_cast<W>(x), static_cast<W>(y))));
    if (e > worst) worst = e, at_x = x, at_y = y;
  }
  if (std::getenv("RW_SHOW_ULP"))
    std::printf("pow %-6s %8.3f ulp at %a %a\n", sizeof(T) == 4 ? "float" : "double", worst, double(at_x),
                double(at_y));
  EXPECT_LE(worst, bound) << at_x << " " << at_y << " got " << s::pow(at_x, at_y);
}

void pow_accuracy() {
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

TEST(Math, PowAccuracy) { pow_accuracy(); }
TEST(Math, PowAccuracyWhereDenormalsAreFlushed) {
  const rw::KernelFloatMode mode;
  pow_accuracy();
}

// Arguments next to the smallest normal number, whose results are normal: no step on the way may be lost.
template <class T>
void small_arguments() {
  using W = std::conditional_t<std::is_same_v<T, float>, double, LD>;
  struct {
    const char* name;
    T (*ours)(T);
    W (*wide)(W);
  } const rows[] = {
#define ROW(f) {#f, [](T x) -> T { return s::f(x); }, [](W x) -> W { return std::f(x); }},
      ROW(expm1) ROW(log1p) ROW(sin) ROW(tan) ROW(asin) ROW(atan) ROW(sinh) ROW(tanh) ROW(asinh) ROW(atanh)
          ROW(erf) ROW(log) ROW(log2) ROW(log10) ROW(sqrt) ROW(exp) ROW(cos) ROW(cosh) ROW(acos)
#undef ROW
  };
  std::mt19937_64 random(7);
  const rw::KernelFloatMode mode;
  for (const auto& row : rows) {
    double worst = 0;
    T at = 0;
    for (int i = 0; i < 4000; ++i) {
      const int exponent = std::numeric_limits<T>::min_exponent + int(random() % 40);
      T x = static_cast<T>(std::ldexp(std::uniform_real_distribution<double>(0.5, 1)(random), exponent));
      if (i % 2 && row.wide(W(-1)) < 0) x = -x;
      const double e = error_of(row.ours(x), row.wide(static_cast<W>(x)));
      if (e > worst) worst = e, at = x;
    }
    EXPECT_LE(worst, 3.0) << row.name << " at " << at << ": " << row.ours(at);
  }
}

TEST(Math, SmallArgumentsWhereDenormalsAreFlushed) {
  small_arguments<float>();
  small_arguments<double>();
}

// Arguments next to multiples of pi/2, where the reduction cancels most.
TEST(Math, TrigNearMultiplesOfHalfPi) {
  std::mt19937_64 random(5);
  const LD half_pi = 1.57079632679489661923132169163975144L;
  double worst_float = 0, worst_double = 0;
  for (int i = 0; i < 100000; ++i) {
    const int width = static_cast<int>(random() % 40);
    const LD k = static_cast<LD>(random() >> (63 - width));
    const float x = static_cast<float>(k * half_pi);
    worst_float = std::max(worst_float, ulps(s::sin(x), std::sin(static_cast<double>(x))));
    worst_float = std::max(worst_float, ulps(s::cos(x), std::cos(static_cast<double>(x))));
    const double y = static_cast<double>(k * half_pi);
    worst_double = std::max(worst_double, ulps(s::sin(y), std::sin(static_cast<LD>(y))));
    worst_double = std::max(worst_double, ulps(s::cos(y), std::cos(static_cast<LD>(y))));
  }
  EXPECT_LE(worst_float, 2.0);
  EXPECT_LE(worst_double, 1.5);
  // The double that comes closest of all.
  const double closest = std::ldexp(6381956970095103.0, 797);
  EXPECT_LE(ulps(s::cos(closest), std::cos(static_cast<LD>(closest))), 1.0);
}

template <class T>
void sweep_atan2(double bound) {
  using W = std::conditional_t<std::is_same_v<T, float>, double, LD>;
  std::mt19937_64 random(4);
  double worst = 0;
  T at_y = 0, at_x = 0;
  for (int i = 0; i < kMany; ++i) {
    const auto draw = [&] {
      const double v = std::uniform_real_distribution<double>(-1, 1)(random);
      const int exponent = random() % 2 ? 0
                                        : static_cast<int>(random() % (sizeof(T) == 4 ? 250 : 2000)) -
                                              (sizeof(T) == 4 ? 125 : 1000);
      return static_cast<T>(std::ldexp(v, exponent));
    };
    const T y = draw(), x = draw();
    const double e = ulps(s::atan2(y, x), static_cast<W>(std::atan2(static_cast<W>(y), static_cast<W>(x))));
    if (e > worst) worst = e, at_y = y, at_x = x;
  }
  if (std::getenv("RW_SHOW_ULP")) std::printf("atan2 %8.3f ulp\n", worst);
  EXPECT_LE(worst, bound) << at_y << " " << at_x << " got " << s::atan2(at_y, at_x);
}

TEST(Math, Atan2Accuracy) {
  sweep_atan2<float>(4.0);
  sweep_atan2<double>(4.0);
}

template <class T>
bool same(T x, T y) {
  return (std::isnan(x) && std::isnan(y)) || (x == y && std::signbit(x) == std::signbit(y));
}

template <class T>
struct Specials {
  static constexpr T kInf = std::numeric_limits<T>::infinity();
  static constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
  static constexpr T kMax = std::numeric_limits<T>::max();
  static constexpr T kMin = std::numeric_limits<T>::min();
  static constexpr T kTiny = std::numeric_limits<T>::denorm_min();
  std::vector<T> all() const {
    return {T(0),  -T(0),  T(1),    T(-1),    T(0.5), T(-0.5), T(2),   T(-2),  T(3),
            T(-3), T(2.5), T(-2.5), kInf,     -kInf,  kNan,    kMax,   -kMax,  kMin,
            -kMin, kTiny,  -kTiny,  kMin / 2, T(100), T(-100), T(1e4), T(-1e4)};
  }
};

// At special values our functions agree with the C library: exactly where that gives NaN, zero or infinity,
// else within 4 units.
template <class T>
void specials_like_libm() {
  struct {
    const char* name;
    T (*ours)(T);
    T (*libm)(T);
  } const rows[] = {
#define ROW(f) {#f, [](T x) -> T { return s::f(x); }, [](T x) -> T { return std::f(x); }},
      ROW(exp) ROW(exp2) ROW(expm1) ROW(log) ROW(log1p) ROW(log2) ROW(log10) ROW(sin) ROW(cos) ROW(tan)
          ROW(asin) ROW(acos) ROW(atan) ROW(sinh) ROW(cosh) ROW(tanh) ROW(asinh) ROW(acosh) ROW(atanh)
              ROW(erf) ROW(erfc) ROW(sqrt) ROW(floor) ROW(ceil) ROW(trunc) ROW(rint)
#undef ROW
  };
  for (const auto& row : rows) {
    for (const T x : Specials<T>().all()) {
      const T want = row.libm(x), got = row.ours(x);
      const bool exact = std::isnan(want) || std::isinf(want) || want == 0;
      if (exact) {
        EXPECT_TRUE(same(got, want)) << row.name << "(" << x << ") = " << got << ", want " << want;
      } else {
        EXPECT_LE(ulps(got, static_cast<LD>(want)), 4.0)
            << row.name << "(" << x << ") = " << got << ", want " << want;
      }
    }
  }
  struct {
    const char* name;
    T (*ours)(T, T);
    T (*libm)(T, T);
  } const binary[] = {
#define ROW(ours, theirs) \
  {#ours, [](T x, T y) -> T { return s::ours(x, y); }, [](T x, T y) -> T { return std::theirs(x, y); }},
      ROW(pow, pow) ROW(atan2, atan2) ROW(trunc_mod, fmod) ROW(nextafter, nextafter)
#undef ROW
  };
  for (const auto& row : binary) {
    for (const T x : Specials<T>().all()) {
      for (const T y : Specials<T>().all()) {
        const T want = row.libm(x, y), got = row.ours(x, y);
        if (std::isnan(want) || std::isinf(want) || want == 0) {
          EXPECT_TRUE(same(got, want))
              << row.name << "(" << x << ", " << y << ") = " << got << ", want " << want;
        } else {
          EXPECT_LE(ulps(got, static_cast<LD>(want)), 4.0)
              << row.name << "(" << x << ", " << y << ") = " << got << ", want " << want;
        }
      }
    }
  }
}

TEST(Math, SpecialValues) {
  specials_like_libm<float>();
  specials_like_libm<double>();
}

template <class T>
void activations() {
  constexpr T inf = Specials<T>::kInf, nan = Specials<T>::kNan;
  EXPECT_EQ(s::sigmoid(inf), T(1));
  EXPECT_EQ(s::sigmoid(-inf), T(0));
  EXPECT_EQ(s::sigmoid(T(0)), T(0.5));
  EXPECT_GT(s::sigmoid(T(-95)), T(0));  // denormal in float
  EXPECT_EQ(s::softplus(inf), inf);
  EXPECT_EQ(s::softplus(-inf), T(0));
  EXPECT_EQ(s::elu(-inf), T(-1));
  EXPECT_EQ(s::elu(T(3)), T(3));
  EXPECT_EQ(s::selu(-inf), static_cast<T>(-1.7580993408473768599));
  for (const T y : {s::sigmoid(nan), s::softplus(nan), s::elu(nan), s::selu(nan), s::relu(nan), s::relu6(nan),
                    s::sign(nan)}) {
    EXPECT_TRUE(std::isnan(y));
  }
  EXPECT_EQ(s::relu6(T(7)), T(6));
  EXPECT_EQ(s::relu(T(-7)), T(0));
  EXPECT_EQ(s::sign(T(-7)), T(-1));
  EXPECT_FALSE(std::signbit(s::sign(-T(0))));
  EXPECT_EQ(s::xlogy(T(0), nan), T(0));
  EXPECT_EQ(s::xlogy(T(0), T(0)), T(0));
  EXPECT_EQ(s::xlog1py(T(0), T(-1)), T(0));
  EXPECT_EQ(s::xdivy(T(0), T(0)), T(0));
  EXPECT_EQ(s::div_no_nan(nan, T(0)), T(0));
  EXPECT_EQ(s::mul_no_nan(nan, T(0)), T(0));
  EXPECT_TRUE(std::isnan(s::mul_no_nan(T(0), nan)));
  EXPECT_EQ(s::squared_difference(T(2), T(5)), T(9));
  EXPECT_EQ(s::rsqrt(T(0)), inf);
  EXPECT_EQ(s::rsqrt(T(4)), T(0.5));
  EXPECT_TRUE(std::isnan(s::minimum(T(1), nan)) && std::isnan(s::maximum(nan, T(1))));
}

TEST(Math, Activations) {
  activations<float>();
  activations<double>();
}

template <class T>
void remainders() {
  std::mt19937_64 random(6);
  for (int i = 0; i < 20000; ++i) {
    const auto draw = [&] {
      const int range = i % 2 ? 20 : (sizeof(T) == 4 ? 140 : 1060);
      const int exponent = static_cast<int>(random() % (2 * range)) - range;
      return static_cast<T>(std::ldexp(std::uniform_real_distribution<double>(-1, 1)(random), exponent));
    };
    const T x = draw(), y = draw();
    const T want = std::fmod(x, y);
    ASSERT_TRUE(same(s::trunc_mod(x, y), want))
        << x << " mod " << y << " = " << s::trunc_mod(x, y) << ", want " << want;
    const T floored = want != 0 && (want < 0) != (y < 0) ? want + y : want;
    ASSERT_TRUE(same(s::floor_mod(x, y), floored)) << x << " floor_mod " << y;
  }
}

TEST(Math, Remainders) {
  remainders<float>();
  remainders<double>();
  EXPECT_EQ(s::floor_mod(-5.5, 2.0), 0.5);
  EXPECT_EQ(s::floor_div(-5.5, 2.0), -3.0);
}

// Known bounds of the angle reduction: sin_small is sin for small angles, bit for bit.
TEST(Math, SmallAngles) {
  for (int i = -100000; i <= 100000; ++i) {
    const float x = static_cast<float>(i) * 1.3107f;
    ASSERT_EQ(s::sin(x), s::sin_small(x));
    ASSERT_EQ(s::cos(x), s::cos_small(x));
    ASSERT_EQ(s::tan(x), s::tan_small(x));
  }
}

template <class I>
void integers() {
  namespace n = s::integer;
  const I lowest = std::numeric_limits<I>::min(), most = std::numeric_limits<I>::max();
  const std::vector<I> values = {lowest,
                                 static_cast<I>(lowest + 1),
                                 I(0),
                                 I(1),
                                 I(2),
                                 I(3),
                                 I(7),
                                 static_cast<I>(-1),
                                 static_cast<I>(-2),
                                 static_cast<I>(-7),
                                 most};
  for (const I x : values) {
    for (const I y : values) {
      if (y == 0) continue;
      const __int128 a = x, b = y;
      const __int128 q = a / b, r = a % b;
      const __int128 floor_q = r != 0 && (r < 0) != (b < 0) ? q - 1 : q;
      EXPECT_EQ(n::trunc_div(x, y), static_cast<I>(q));
      EXPECT_EQ(n::trunc_mod(x, y), static_cast<I>(r));
      EXPECT_EQ(n::floor_div(x, y), static_cast<I>(floor_q));
      EXPECT_EQ(n::floor_mod(x, y), static_cast<I>(a - floor_q * b));
    }
    I product = 1;
    for (int e = 0; e < 20; ++e) {
      EXPECT_EQ(n::pow(x, static_cast<I>(e)), product);
      product = n::multiply(product, x);
    }
    EXPECT_EQ(n::abs(x), static_cast<I>(x < 0 ? -static_cast<__int128>(x) : static_cast<__int128>(x)));
    EXPECT_EQ(n::sign(x), static_cast<I>(x > 0 ? 1 : x < 0 ? -1 : 0));
  }
}

TEST(Math, Integers) {
  integers<std::int8_t>();
  integers<std::int16_t>();
  integers<std::int32_t>();
  integers<std::int64_t>();
  integers<std::uint8_t>();
  integers<std::uint16_t>();
  integers<std::uint32_t>();
  integers<std::uint64_t>();
}

}  // namespace
