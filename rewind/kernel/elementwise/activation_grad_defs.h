// Definitions: the ops that serve the gradients of activations and roots.
#pragma once

#include "rewind/kernel/elementwise/visit.h"

namespace rw {

template <class Visitor>
void visit_activation_grad(Visitor&& v) {
  using scalar::lit;
  using scalar::select;
  // (gradient, input)
  v.template op<kRealTypes>("ReluGrad", []<class T>(T g, T x) { return choose(x > T(0), g, T(0)); });
  v.template op<kRealTypes>("Relu6Grad",
                            []<class T>(T g, T x) { return choose((x > T(0)) & (x < T(6)), g, T(0)); });
  v.template op<kFloatTypes>("SoftplusGrad",
                             []<class T>(T g, T x) { return g / (scalar::exp(-x) + lit<T>(1.0)); });
  v.template op<kFloatTypes>("SoftsignGrad", []<class T>(T g, T x) {
    const T d = lit<T>(1.0) + scalar::abs(x);
    return g / (d * d);
  });
  // (gradient, output)
  v.template op<kFloatTypes>(
      "EluGrad", []<class T>(T g, T y) { return select(y < lit<T>(0.0), (y + lit<T>(1.0)) * g, g); });
  v.template op<kFloatTypes>("SeluGrad", []<class T>(T g, T y) {
    const T scale = lit<T>(1.0507009873554804934193349852946);
    const T scale_alpha = lit<T>(1.7580993408473768599402175208123);
    return select(y < lit<T>(0.0), g * (y + scale_alpha), g * scale);
  });
  // (output, gradient)
  v.template op<kFloatTypes>("SigmoidGrad", []<class T>(T y, T g) { return g * y * (lit<T>(1.0) - y); });
  v.template op<kFloatTypes>("TanhGrad", []<class T>(T y, T g) { return g * (lit<T>(1.0) - y * y); });
  v.template op<kFloatTypes>("SqrtGrad", []<class T>(T y, T g) { return g * lit<T>(0.5) / y; });
  v.template op<kFloatTypes>("RsqrtGrad", []<class T>(T y, T g) { return lit<T>(-0.5) * (g * y) * (y * y); });
  v.template op<kFloatTypes>("ReciprocalGrad", []<class T>(T y, T g) { return -g * (y * y); });
  v.alias("InvGrad", "ReciprocalGrad");
}

}  // namespace rw
