// Definitions: powers, remainders and special functions of two arguments.
#pragma once

#include "rewind/base/math/incomplete_slope.h"
#include "rewind/kernel/elementwise/integer_division.h"
#include "rewind/kernel/elementwise/visit.h"

namespace rw {

template <class Visitor>
void visit_binary_special(Visitor&& v) {
  constexpr DTypeSet kFull = set_of(DType::kFloat32, DType::kFloat64);
  v.template long_op<kFloatTypes | kSignedTypes>("Pow", []<class T>(T x, T y) {
    if constexpr (is_integer_value<T>) return scalar::integer::pow(x, y);
    else return scalar::pow(x, y);
  });
  v.template long_op<kRealTypes>("FloorMod", []<class T>(T x, T y) {
    if constexpr (is_integer_value<T>) return scalar::integer::quick_floor_mod(x, y);
    else return scalar::floor_mod(x, y);
  });
  v.template long_op<kFloatTypes | set_of(DType::kInt32, DType::kInt64)>(
      "TruncateMod", []<class T>(T x, T y) {
        if constexpr (is_integer_value<T>) return scalar::integer::quick_trunc_mod(x, y);
        else return scalar::trunc_mod(x, y);
      });
  v.alias("Mod", "TruncateMod");
  v.template long_op<kFloatTypes>("Atan2", [](auto y, auto x) { return scalar::atan2(y, x); });
  v.template long_op<kFloatTypes>("Xlogy", [](auto x, auto y) { return scalar::xlogy(x, y); });
  v.template long_op<kFloatTypes>("Xlog1py", [](auto x, auto y) { return scalar::xlog1py(x, y); });
  v.template long_op<kFloatTypes>("Igamma", [](auto a, auto x) { return scalar::igamma(a, x); });
  v.template long_op<kFloatTypes>("Igammac", [](auto a, auto x) { return scalar::igammac(a, x); });
  v.template long_op<kFull>("IgammaGradA", [](auto a, auto x) { return scalar::igamma_grad_a(a, x); });
  v.template long_op<kFull>("RandomGammaGrad",
                            [](auto a, auto x) { return scalar::random_gamma_grad(a, x); });
  v.template long_op<kFull>("Zeta", [](auto x, auto q) { return scalar::zeta(x, q); });
  v.template long_op<kFull>("Polygamma", [](auto n, auto x) { return scalar::polygamma(n, x); });
  v.template long_op<kFull>("NextAfter", [](auto x, auto y) { return scalar::nextafter(x, y); });
}

}  // namespace rw
