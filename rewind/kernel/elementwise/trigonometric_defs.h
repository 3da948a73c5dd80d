// Definitions: sines, their inverses and the inverse hyperbolic functions.
#pragma once

#include "rewind/kernel/elementwise/visit.h"

namespace rw {

template <class Visitor>
void visit_trigonometric(Visitor&& v) {
  // Where all angles are small the shorter function gives the same bits.
  const auto small = []<class T>(T x) { return scalar::abs(x) <= scalar::lit<T>(scalar::kSmallAngle<T>); };
  v.template op_with_fast_path<kFloatTypes>(
      "Sin", [](auto x) { return scalar::sin(x); }, [](auto x) { return scalar::sin_small(x); }, small);
  v.template op_with_fast_path<kFloatTypes>(
      "Cos", [](auto x) { return scalar::cos(x); }, [](auto x) { return scalar::cos_small(x); }, small);
  v.template op_with_fast_path<kFloatTypes>(
      "Tan", [](auto x) { return scalar::tan(x); }, [](auto x) { return scalar::tan_small(x); }, small);
  v.template op<kFloatTypes>("Asin", [](auto x) { return scalar::asin(x); });
  v.template op<kFloatTypes>("Acos", [](auto x) { return scalar::acos(x); });
  v.template op<kFloatTypes>("Atan", [](auto x) { return scalar::atan(x); });
  v.template op<kFloatTypes>("Asinh", [](auto x) { return scalar::asinh(x); });
  v.template op<kFloatTypes>("Acosh", [](auto x) { return scalar::acosh(x); });
  v.template op<kFloatTypes>("Atanh", [](auto x) { return scalar::atanh(x); });
}

}  // namespace rw
