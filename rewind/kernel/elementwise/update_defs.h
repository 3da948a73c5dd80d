// Definitions of the optimizers' steps. Each is a generic function on one element: `s` holds the variable
// (s.var) and its slots (s.a, s.b, s.c) in the order of the op's resource inputs, g is the gradient, h the
// scalars. `prepare` turns the op's scalar inputs, in the order of its row, into what the step reads.
#pragma once

#include "rewind/base/math/math.h"
#include "rewind/kernel/elementwise/visit.h"

namespace rw {

template <class T>
struct Slots {
  T var, a, b, c;
};

// Follow the regularised leader: s.a sums the squares, s.b is the linear term. gs is the gradient with its
// shrinkage. kByRate: the linear term is kept multiplied by the learning rate. kPower: the rate falls with
// another power than the root.
template <bool kByRate, bool kPower, class S, class T>
RW_SCALAR void ftrl_step(S& s, T g, T gs, T lr, T l1, T l2, T lr_power) {
  const auto power = [&](T x) RW_SCALAR_LAMBDA {
    if constexpr (kPower) return scalar::pow(x, -lr_power);
    else return scalar::sqrt(x);
  };
  const T sum = s.a + g * g;
  const T now = power(sum);
  const T grown = now - power(s.a);
  const T limit = kByRate ? l1 * lr : l1;
  if constexpr (kByRate) s.b = s.b + (gs * lr - grown * s.var);
  else s.b = s.b + (gs - grown / lr * s.var);
  const T inside = scalar::select(s.b > limit, limit, scalar::select(s.b < -limit, -limit, s.b));
  const T steep = kByRate ? now + 2 * l2 * lr : now / lr + 2 * l2;
  s.var = (inside - s.b) / steep;
  s.a = sum;
}

// Towards zero by l1 * rate, then divided by 1 + l2 * rate.
template <class T>
RW_SCALAR T shrink(T x, T rate, T l1, T l2) {
  const T by = rate * l1;
  const T size = scalar::abs(x) - by;
  const T moved = scalar::select(size > 0, scalar::copysign(size, x), x - x);
  return scalar::select(l1 > 0, moved, x) / (1 + rate * l2);
}

template <class T>
RW_SCALAR T sign_of(T x) {
  return scalar::select(x > 0, x - x + 1, scalar::select(x < 0, x - x - 1, x));
}

// Visitor: v.template op<kSlots>(name, variant, prepare, step).
template <class Visitor>
void visit_updates(Visitor&& v) {
  const auto as_given = [](auto*) {};
  v.template op<1>("ResourceApplyGradientDescent", 0, as_given,
                   [](auto& s, auto g, const auto* h) { s.var = s.var - g * h[0]; });

  // h: lr, momentum
  v.template op<2>("ResourceApplyMomentum", 0, as_given, [](auto& s, auto g, const auto* h) {
    s.a = s.a * h[1] + g;
    s.var = s.var - s.a * h[0];
  });
  v.template op<2>("ResourceApplyMomentum", 1, as_given, [](auto& s, auto g, const auto* h) {
    s.a = s.a * h[1] + g;
    s.var = s.var - (g * h[0] + s.a * h[1] * h[0]);
  });
  v.template op<2>("ResourceApplyKerasMomentum", 0, as_given, [](auto& s, auto g, const auto* h) {
    s.a = s.a * h[1] - g * h[0];
    s.var = s.var + s.a;
  });
  v.template op<2>("ResourceApplyKerasMomentum", 1, as_given, [](auto& s, auto g, const auto* h) {
    s.a = s.a * h[1] - g * h[0];
    s.var = s.var + (s.a * h[1] - g * h[0]);
  });

  // h: beta1_power, beta2_power, lr, beta1, beta2, epsilon -> step size, 1 - beta1, 1 - beta2, beta1, _,
  // epsilon
  const auto adam = [](auto* h) {
    h[0] = h[2] * scalar::sqrt(1 - h[1]) / (1 - h[0]);
    h[1] = 1 - h[3];
    h[2] = 1 - h[4];
  };
  v.template op<3>("ResourceApplyAdam", 0, adam, [](auto& s, auto g, const auto* h) {
    s.a = s.a + (g - s.a) * h[1];
    s.b = s.b + (g * g - s.b) * h[2];
    s.var = s.var - (s.a * h[0]) / (scalar::sqrt(s.b) + h[5]);
  });
  v.template op<3>("ResourceApplyAdam", 1, adam, [](auto& s, auto g, const auto* h) {
    s.a = s.a + (g - s.a) * h[1];
    s.b = s.b + (g * g - s.b) * h[2];
    s.var = s.var - ((g * h[1] + h[3] * s.a) * h[0]) / (scalar::sqrt(s.b) + h[5]);
  });
  // h: as Adam's
  v.template op<4>("ResourceApplyAdamWithAmsgrad", 0, adam, [](auto& s, auto g, const auto* h) {
    s.a = s.a + (g - s.a) * h[1];
    s.b = s.b + (g * g - s.b) * h[2];
    s.c = scalar::select(s.c < s.b, s.b, s.c);
    s.var = s.var - (s.a * h[0]) / (scalar::sqrt(s.c) + h[5]);
  });
  // h: beta1_power, lr, beta1, beta2, epsilon
  const auto adamax = [](auto* h) {
    h[0] = h[1] / (1 - h[0]);
    h[1] = 1 - h[2];
  };
  v.template op<3>("ResourceApplyAdaMax", 0, adamax, [](auto& s, auto g, const auto* h) {
    s.a = s.a + (g - s.a) * h[1];
    const auto faded = h[3] * s.b;
    const auto size = scalar::abs(g);
    s.b = scalar::select(faded < size, size, faded);
    s.var = s.var - h[0] * (s.a / (s.b + h[4]));
  });

  // h: lr, rho, momentum, epsilon
  v.template op<3>("ResourceApplyRMSProp", 0, as_given, [](auto& s, auto g, const auto* h) {
    s.a = s.a + (g * g - s.a) * (1 - h[1]);
    s.b = s.b * h[2] + (g * h[0]) / scalar::sqrt(s.a + h[3]);
    s.var = s.var - s.b;
  });
  v.template op<4>("ResourceApplyCenteredRMSProp", 0, as_given, [](auto& s, auto g, const auto* h) {
    s.b = s.b + (g * g - s.b) * (1 - h[1]);
    s.a = s.a + (g - s.a) * (1 - h[1]);
    s.c = s.c * h[2] + (g * h[0]) / scalar::sqrt(s.b - s.a * s.a + h[3]);
    s.var = s.var - s.c;
  });

  // h: lr [, epsilon]
  v.template op<2>("ResourceApplyAdagrad", 0, as_given, [](auto& s, auto g, const auto* h) {
    s.a = s.a + g * g;
    s.var = s.var - g * h[0] / scalar::sqrt(s.a);
  });
  v.template op<2>("ResourceApplyAdagrad", 1, as_given,
                   [](auto& s, auto g, const auto* h) { s.var = s.var - g * h[0] / scalar::sqrt(s.a); });
  v.template op<2>("ResourceApplyAdagradV2", 0, as_given, [](auto& s, auto g, const auto* h) {
    s.a = s.a + g * g;
    s.var = s.var - g * h[0] / (scalar::sqrt(s.a) + h[1]);
  });
  v.template op<2>("ResourceApplyAdagradV2", 1, as_given, [](auto& s, auto g, const auto* h) {
    s.var = s.var - g * h[0] / (scalar::sqrt(s.a) + h[1]);
  });

  // h: lr, rho, epsilon
  v.template op<3>("ResourceApplyAdadelta", 0, as_given, [](auto& s, auto g, const auto* h) {
    s.a = s.a * h[1] + g * g * (1 - h[1]);
    const auto update = scalar::sqrt(s.b + h[2]) / scalar::sqrt(s.a + h[2]) * g;
    s.var = s.var - update * h[0];
    s.b = s.b * h[1] + update * update * (1 - h[1]);
  });

  // h: lr, l1, l2, lr_power. Variants: 1 by rate, 2 with a power.
  v.template op<3>("ResourceApplyFtrl", 0, as_given, [](auto& s, auto g, const auto* h) {
    ftrl_step<false, false>(s, g, g, h[0], h[1], h[2], h[3]);
  });
  v.template op<3>("ResourceApplyFtrl", 1, as_given, [](auto& s, auto g, const auto* h) {
    ftrl_step<true, false>(s, g, g, h[0], h[1], h[2], h[3]);
  });
  v.template op<3>("ResourceApplyFtrl", 2, as_given, [](auto& s, auto g, const auto* h) {
    ftrl_step<false, true>(s, g, g, h[0], h[1], h[2], h[3]);
  });
  v.template op<3>("ResourceApplyFtrl", 3, as_given, [](auto& s, auto g, const auto* h) {
    ftrl_step<true, true>(s, g, g, h[0], h[1], h[2], h[3]);
  });
  // h: lr, l1, l2, l2_shrinkage, lr_power
  v.template op<3>("ResourceApplyFtrlV2", 0, as_given, [](auto& s, auto g, const auto* h) {
    ftrl_step<false, false>(s, g, g + 2 * h[3] * s.var, h[0], h[1], h[2], h[4]);
  });
  v.template op<3>("ResourceApplyFtrlV2", 1, as_given, [](auto& s, auto g, const auto* h) {
    ftrl_step<true, false>(s, g, g + 2 * h[3] * s.var, h[0], h[1], h[2], h[4]);
  });
  v.template op<3>("ResourceApplyFtrlV2", 2, as_given, [](auto& s, auto g, const auto* h) {
    ftrl_step<false, true>(s, g, g + 2 * h[3] * s.var, h[0], h[1], h[2], h[4]);
  });
  v.template op<3>("ResourceApplyFtrlV2", 3, as_given, [](auto& s, auto g, const auto* h) {
    ftrl_step<true, true>(s, g, g + 2 * h[3] * s.var, h[0], h[1], h[2], h[4]);
  });

  // h: alpha, l1, l2
  v.template op<1>("ResourceApplyProximalGradientDescent", 0, as_given, [](auto& s, auto g, const auto* h) {
    s.var = shrink(s.var - g * h[0], h[0], h[1], h[2]);
  });
  // h: lr, l1, l2
  v.template op<2>("ResourceApplyProximalAdagrad", 0, as_given, [](auto& s, auto g, const auto* h) {
    s.a = s.a + g * g;
    const auto rate = h[0] / scalar::sqrt(s.a);
    s.var = shrink(s.var - g * rate, rate, h[1], h[2]);
  });

  // h: lr, alpha, sign_decay, beta
  v.template op<2>("ResourceApplyAddSign", 0, as_given, [](auto& s, auto g, const auto* h) {
    s.a = g * (1 - h[3]) + s.a * h[3];
    s.var = s.var - h[0] * (h[1] + h[2] * (sign_of(g) * sign_of(s.a))) * g;
  });
  // h: lr, logbase, sign_decay, beta
  v.template op<2>("ResourceApplyPowerSign", 0, as_given, [](auto& s, auto g, const auto* h) {
    s.a = g * (1 - h[3]) + s.a * h[3];
    s.var = s.var - h[0] * scalar::exp(h[1] * h[2] * (sign_of(g) * sign_of(s.a))) * g;
  });
}

}  // namespace rw
