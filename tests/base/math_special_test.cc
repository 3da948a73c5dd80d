// The special functions against values from mpmath (math_golden.inc), and their ends as TensorFlow has them.
#include "rewind/base/math/math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <string>

namespace {

namespace s = rw::scalar;

struct Row {
  const char* name;
  double a, b, c, value;
};
const Row kRows[] = {
#include "math_golden.inc"
};

// The same function in both types, called with three arguments of which it takes what it needs.
struct Function {
  double tolerance;
  std::function<double(double, double, double)> f64;
  std::function<float(float, float, float)> f32;
};

#define UNARY(name, tolerance)                                        \
  {                                                                   \
    #name, {                                                          \
      tolerance, [](double a, double, double) { return s::name(a); }, \
          [](float a, float, float) { return s::name(a); }            \
    }                                                                 \
  }
#define BINARY(name, tolerance)                                            \
  {                                                                        \
    #name, {                                                               \
      tolerance, [](double a, double b, double) { return s::name(a, b); }, \
          [](float a, float b, float) { return s::name(a, b); }            \
    }                                                                      \
  }
#define TERNARY(name, tolerance)                                                \
  {                                                                             \
    #name, {                                                                    \
      tolerance, [](double a, double b, double c) { return s::name(a, b, c); }, \
          [](float a, float b, float c) { return s::name(a, b, c); }            \
    }                                                                           \
  }

const std::map<std::string, Function>& functions() {
  static const std::map<std::string, Function> table = {
      UNARY(lgamma, 1e-13),    UNARY(digamma, 1e-13),     UNARY(erfinv, 1e-13),      UNARY(ndtri, 1e-13),
      UNARY(bessel_i0, 1e-13), UNARY(bessel_i0e, 1e-13),  UNARY(bessel_i1, 1e-13),   UNARY(bessel_i1e, 1e-13),
      UNARY(bessel_k0, 1e-13), UNARY(bessel_k0e, 1e-13),  UNARY(bessel_k1, 1e-13),   UNARY(bessel_k1e, 1e-13),
      BINARY(zeta, 1e-13),     BINARY(polygamma, 1e-13),  BINARY(igamma, 1e-12),     BINARY(igammac, 1e-12),
      TERNARY(betainc, 1e-12), UNARY(dawsn, 1e-13),       UNARY(expint, 1e-13),      UNARY(spence, 1e-13),
      UNARY(bessel_j0, 1e-13), UNARY(fresnel_sin, 1e-13), UNARY(fresnel_cos, 1e-13), UNARY(bessel_j1, 1e-13),
      UNARY(bessel_y0, 1e-13), UNARY(bessel_y1, 1e-13),
  };
  return table;
}

TEST(MathSpecial, Golden) {
  std::map<std::string, std::pair<double, double>> worst;
  for (const Row& row : kRows) {
    const Function& f = functions().at(row.name);
    const double got = f.f64(row.a, row.b, row.c);
    // J and Y have zeros, near which only the absolute error is small.
    const bool waves = row.name[0] == 'b' && (row.name[7] == 'j' || row.name[7] == 'y');
    const double size = std::max(std::fabs(row.value), waves ? 0.05 : 0.0);
    const double error = got == row.value ? 0 : std::fabs(got - row.value) / size;
    EXPECT_LE(error, f.tolerance) << row.name << "(" << row.a << ", " << row.b << ", " << row.c
                                  << ") = " << got << ", want " << row.value;
    auto& w = worst[row.name];
    if (!(error <= w.first)) w = {error, row.a};
  }
  if (std::getenv("RW_SHOW_ULP")) {
    for (const auto& [name, w] : worst) std::printf("%-12s %.2e at %.17g\n", name.c_str(), w.first, w.second);
  }
}

TEST(MathSpecial, FloatIsTheRoundedDouble) {
  for (const Row& row : kRows) {
    const Function& f = functions().at(row.name);
    const float a = static_cast<float>(row.a), b = static_cast<float>(row.b), c = static_cast<float>(row.c);
    const float want = static_cast<float>(f.f64(a, b, c)), got = f.f32(a, b, c);
    EXPECT_TRUE(got == want || (std::isnan(got) && std::isnan(want)))
        << row.name << " " << a << " " << got << " " << want;
  }
}

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

void expect(const char* name, double a, double b, double c, double want) {
  const double got = functions().at(name).f64(a, b, c);
  if (std::isnan(want)) {
    EXPECT_TRUE(std::isnan(got)) << name << " " << a << " " << b << " " << c << ": " << got;
  } else {
    EXPECT_EQ(got, want) << name << " " << a << " " << b << " " << c;
  }
}

TEST(MathSpecial, Ends) {
  const double specials[] = {0.0, 1.0, -1.0, -2.0, kInf, -kInf, kNan};
  const std::map<std::string, std::vector<double>> unary = {
      {"lgamma", {kInf, 0, kInf, kInf, kInf, kInf, kNan}},
      {"digamma", {kNan, 7, kNan, kNan, kInf, kNan, kNan}},
      {"erfinv", {0, kInf, -kInf, kNan, kNan, kNan, kNan}},
      {"ndtri", {-kInf, kInf, kNan, kNan, kNan, kNan, kNan}},
      {"bessel_i0", {1, 7, 7, 7, kNan, kNan, kNan}},
      {"bessel_i0e", {1, 7, 7, 7, 0, 0, kNan}},
      {"bessel_i1", {0, 7, 7, 7, kNan, kNan, kNan}},
      {"bessel_i1e", {0, 7, 7, 7, 0, 0, kNan}},
      {"fresnel_sin", {0, 7, 7, 7, 0.5, -0.5, kNan}},
      {"fresnel_cos", {0, 7, 7, 7, 0.5, -0.5, kNan}},
      {"bessel_j0", {1, 7, 7, 7, kNan, kNan, kNan}},
      {"bessel_j1", {0, 7, 7, 7, kNan, kNan, kNan}},
      {"bessel_y0", {-kInf, 7, -kInf, -kInf, kNan, -kInf, kNan}},
      {"bessel_y1", {-kInf, 7, -kInf, -kInf, kNan, -kInf, kNan}},
      {"dawsn", {0, 7, 7, 7, 0, 0, kNan}},
      {"expint", {-kInf, 7, kNan, kNan, kNan, kNan, kNan}},
      {"spence", {7, 0, kNan, kNan, kNan, kNan, kNan}},
      {"bessel_k0", {kInf, 7, kInf, kInf, 0, kInf, kNan}},
      {"bessel_k0e", {kInf, 7, kInf, kInf, 0, kInf, kNan}},
      {"bessel_k1", {kInf, 7, kInf, kInf, 0, kInf, kNan}},
      {"bessel_k1e", {kInf, 7, kInf, kInf, 0, kInf, kNan}},
  };
  for (const auto& [name, wants] : unary) {
    for (int i = 0; i < 7; ++i) {
      if (wants[i] != 7) expect(name.c_str(), specials[i], 0, 0, wants[i]);  // 7: an ordinary value
    }
  }
  const double zeta[][3] = {{1, 1, kInf},      {0.5, 1, kNan},    {2, 0, kInf}, {2, -1, kInf},
                            {3, -2, kNan},     {2.5, -1.5, kNan}, {kInf, 1, 1}, {2, kInf, 0},
                            {kNan, 1, kNan},   {2, kNan, kNan},   {1, 0, kInf}, {4, -2, kInf},
                            {kInf, 0.5, kInf}, {kInf, 2, 0}};
  for (const auto& r : zeta) expect("zeta", r[0], r[1], 0, r[2]);
  const double polygamma[][3] = {{2, 0, kNan},   {1, 0, kInf},    {1, -1, kInf},   {2, -1, kNan},
                                 {1.5, 1, kNan}, {-1, 1, kNan},   {kNan, 1, kNan}, {1, kNan, kNan},
                                 {1, kInf, 0},   {0, kInf, kInf}, {0, -1, kNan},   {0, 0, kNan}};
  for (const auto& r : polygamma) expect("polygamma", r[0], r[1], 0, r[2]);
  const double igamma[][4] = {{0, 0, 0, kNan},       {0, 1, kNan, kNan},   {1, 0, 0, 1},
                              {-1, 1, kNan, kNan},   {1, -1, kNan, kNan},  {1, kInf, 1, 0},
                              {kNan, 1, kNan, kNan}, {kInf, 1, 0, 1},      {1, kNan, kNan, kNan},
                              {0, kInf, kNan, kNan}, {-0.5, 1, kNan, kNan}};
  for (const auto& r : igamma) expect("igamma", r[0], r[1], 0, r[2]), expect("igammac", r[0], r[1], 0, r[3]);
  const double betainc[][4] = {{1, 1, 0, 0},         {1, 1, 1, 1},         {0, 1, 0.5, kNan},
                               {1, 0, 0.5, kNan},    {-1, 1, 0.5, kNan},   {1, 1, -0.1, kNan},
                               {1, 1, 1.1, kNan},    {kNan, 1, 0.5, kNan}, {kInf, 1, 0.5, kNan},
                               {1, kInf, 0.5, kNan}, {0, 1, 0, kNan},      {2, 3, 0, 0}};
  for (const auto& r : betainc) expect("betainc", r[0], r[1], r[2], r[3]);
}

}  // namespace
