// Definitions: three operands of one dtype.
#pragma once

#include "rewind/kernel/elementwise/visit.h"

namespace rw {

template <class Visitor>
void visit_ternary(Visitor&& v) {
  v.template op<kRealTypes>("ClipByValue", []<class T>(T x, T low, T high) {
    const T below = choose(x > high, high, x);  // NaN stays
    const T clipped = choose(below < low, low, below);
    if constexpr (is_integer_value<T>) return clipped;
    else return scalar::flushed(clipped);
  });
  // alpha and tolerance are the third operand: one value for all.
  v.template op<kFloatTypes>("LeakyReluGrad", []<class T>(T g, T x, T alpha) {
    return scalar::select(x > scalar::lit<T>(0.0), g, g * alpha);
  });
  v.template op<kRealTypes>("ApproximateEqual", []<class T>(T x, T y, T tolerance) {
    if constexpr (is_integer_value<T>) {
      return (x > y ? T(x - y) : T(y - x)) < tolerance;
    } else {
      return scalar::abs(x - y) < tolerance;
    }
  });
  v.template op<set_of(DType::kFloat32, DType::kFloat64)>(
      "Betainc", [](auto a, auto b, auto x) { return scalar::betainc(a, b, x); });
}

}  // namespace rw
