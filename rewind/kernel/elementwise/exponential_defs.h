// Definitions: exponentials, logarithms and the activations made of them.
#pragma once

#include "rewind/kernel/elementwise/visit.h"

namespace rw {

template <class Visitor>
void visit_exponential(Visitor&& v) {
  v.template op_with_fast_blocks<kFloatTypes>(
      "Exp", [](auto x) { return scalar::exp(x); }, [](auto x) { return scalar::exp_normal(x); },
      [](auto x) { return scalar::abs(x) <= scalar::lit<decltype(x)>(scalar::kExpNormal<decltype(x)>); });
  v.template op<kFloatTypes>("Expm1", [](auto x) { return scalar::expm1(x); });
  v.template op<kFloatTypes>("Log", [](auto x) { return scalar::log(x); });
  v.template op<kFloatTypes>("Log1p", [](auto x) { return scalar::log1p(x); });
  v.template op<kFloatTypes>("Sigmoid", [](auto x) { return scalar::sigmoid(x); });
  v.template op<kFloatTypes>("Softplus", [](auto x) { return scalar::softplus(x); });
  v.template op<kFloatTypes>("Elu", [](auto x) { return scalar::elu(x); });
  v.template op<kFloatTypes>("Selu", [](auto x) { return scalar::selu(x); });
  v.template op<kFloatTypes>("Tanh", [](auto x) { return scalar::tanh(x); });
  v.template op<kFloatTypes>("Sinh", [](auto x) { return scalar::sinh(x); });
  v.template op<kFloatTypes>("Cosh", [](auto x) { return scalar::cosh(x); });
}

}  // namespace rw
