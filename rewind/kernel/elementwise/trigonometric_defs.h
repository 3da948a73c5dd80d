// Definitions: sines, their inverses and the inverse hyperbolic functions.
#pragma once

#include "rewind/kernel/elementwise/visit.h"

namespace rw {

template <class Visitor>
void visit_trigonometric(Visitor&& v) {
  v.template op<kFloatTypes>("Sin", [](auto x) { return scalar::sin(x); });
  v.template op<kFloatTypes>("Cos", [](auto x) { return scalar::cos(x); });
  v.template op<kFloatTypes>("Tan", [](auto x) { return scalar::tan(x); });
  v.template op<kFloatTypes>("Asin", [](auto x) { return scalar::asin(x); });
  v.template op<kFloatTypes>("Acos", [](auto x) { return scalar::acos(x); });
  v.template op<kFloatTypes>("Atan", [](auto x) { return scalar::atan(x); });
  v.template op<kFloatTypes>("Asinh", [](auto x) { return scalar::asinh(x); });
  v.template op<kFloatTypes>("Acosh", [](auto x) { return scalar::acosh(x); });
  v.template op<kFloatTypes>("Atanh", [](auto x) { return scalar::atanh(x); });
}

}  // namespace rw
