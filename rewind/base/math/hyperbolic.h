// Hyperbolic functions and their inverses, through expm1 and log1p; all but cosh and acosh are odd.
#pragma once

#include "rewind/base/math/exp_log.h"

namespace rw::scalar {

// Near zero a + a z p(z) with z = a^2, else 1 - 2 / (e^(2a) + 1), which is 1 beyond the bound.
template <class T>
RW_SCALAR T tanh(T x) {
  const T a = abs(x);
  const T b = at_most(a, kIsDouble<T> ? 20.0 : 10.0);
  const ExpParts<T> e = exp_reduce(b + b);
  const T power = pow2<T>(e.k);
  const T denominator = fma(power, fma(e.r * e.r, exp_tail(e.r), e.r), power + lit<T>(1.0));
  const T far = lit<T>(1.0) - lit<T>(2.0) / denominator;
  const T z = a * a;
  T p;
  if constexpr (kIsDouble<T>) {
    p = polynomial(z, -0.333333333333333, 0.13333333333326834, -0.053968253963879038, 0.021869488389112604,
                   -0.0088632326529165157, 0.0035920925337026935, -0.001455545991081141,
                   0.00058845707660580158, -0.00023341279618320539, 8.336016362756297e-5,
                   -1.9521084495980071e-5);
  } else {
    p = polynomial(z, -0.33333318, 0.133326017, -0.0538538653, 0.0210777912, -0.00628252166);
  }
  return copysign(select(a < lit<T>(0.55), fma(a * z, p, a), far), x);
}

// m = e^a - 1: sinh a = (m + m / (m + 1)) / 2; e^a / 2 where m would overflow.
template <class T>
RW_SCALAR T sinh(T x) {
  const T a = abs(x);
  const T m = expm1(at_most(a, kIsDouble<T> ? 40.0 : 20.0));
  const T near = lit<T>(0.5) * (m + m / (m + lit<T>(1.0)));
  return copysign(select(a > lit<T>(kIsDouble<T> ? 40.0 : 20.0), exp_corrected(a, lit<T>(0.0), -1), near), x);
}

template <class T>
RW_SCALAR T cosh(T x) {
  const T half = exp_corrected(abs(x), lit<T>(0.0), -1);
  return half + lit<T>(0.25) / half;
}

// asinh a = log1p(a + a^2 / (1 + sqrt(1 + a^2))); log(2a) when a^2 dwarfs 1.
template <class T>
RW_SCALAR T asinh(T x) {
  const T a = abs(x), one = lit<T>(1.0);
  const auto far = a > lit<T>(0x1p14, 0x1p30);
  const T b = select(far, one, a);
  const T square = b * b;
  const T argument = select(far, a - one, b + square / (one + sqrt(one + square)));
  const T result = log1p(argument);
  return copysign(select(far, result + lit<T>(kLn2), result), x);
}

// acosh(1 + t) = log1p(t + sqrt(2t + t^2)).
template <class T>
RW_SCALAR T acosh(T x) {
  const T one = lit<T>(1.0);
  const auto far = x > lit<T>(0x1p14, 0x1p30);
  const T t = select(far, one, x - one);
  const T argument = select(far, x - one, t + sqrt(fma(t, t, t + t)));
  const T result = log1p(argument);
  return select(x < one, lit<T>(kNaN), select(far, result + lit<T>(kLn2), result));
}

// atanh a = log1p(2a / (1 - a)) / 2.
template <class T>
RW_SCALAR T atanh(T x) {
  const T a = abs(x);
  return copysign(lit<T>(0.5) * log1p((a + a) / (lit<T>(1.0) - a)), x);
}

}  // namespace rw::scalar
