// x^y = e^(y log|x|) with IEEE 754's special cases. The logarithm needs about ten bits more than the result:
// float computes in double, double in sums of two doubles.
#pragma once

#include "rewind/base/math/exp_log.h"

namespace rw::scalar {

// |x|^y for positive normal and finite |x| in a double holding a float; 2^t with t clamped to float's range.
template <class D>
RW_SCALAR D pow_of_floats(D log2_special, D a, D y) {
  const LogParts<D> parts = log_reduce(a);
  const D s = parts.f / (parts.f + lit<D>(2.0));
  const D z = s * s;
  const D log2_fraction = s * polynomial(z, 2.8853900817901455, 0.96179667328201612, 0.57708359464270685,
                                         0.41167221485652802, 0.34073832977952544);
  const auto ordinary = both(a > lit<D>(0.0), a < lit<D>(kInfinity));
  const D t = y * select(ordinary, parts.e + log2_fraction, log2_special);
  const D clamped = at_least(at_most(t, 130.0), -160.0);
  const Rounded<D> k = round_product(clamped, lit<D>(1.0));
  const D f = clamped - k.value;
  const D p =
      polynomial(f, 0.99999999991814732, 0.69314720671029736, 0.2402265150518905, 0.055503272177170374,
                 0.0096179945243245272, 0.0013400430164313794, 0.00015478021719095437);
  return p * pow2<D>(k.integer);
}

// log(x) = hi + lo to about 68 bits, x positive and normal (times 2^-lift).
template <class T>
RW_SCALAR Sum<T> log_sum(T x, T lift) {
  const LogParts<T> parts = log_reduce(x);
  const T f = parts.f, e = parts.e - lift;
  // s = f / (2 + f) in two parts.
  const Sum<T> g = quick_two_sum(lit<T>(2.0), f);
  const T inverse = lit<T>(1.0) / g.hi;
  const T s = f * inverse;
  const T s_low = (fma(-s, g.hi, f) - s * g.lo) * inverse;
  // z = s^2, cube = s z.
  const T z = s * s;
  const T z_low = fma(s, s, -z) + (s + s) * s_low;
  const T cube = s * z;
  const T cube_low = fma(s, z, -cube) + fma(s, z_low, s_low * z);
  const T tail =
      z * polynomial(z, 0.40000000000002254, 0.28571428570100484, 0.22222222519747978, 0.18181784383238995,
                     0.15386756559746807, 0.13256836270146625, 0.13196152314671765);
  const Sum<T> c = quick_two_sum(lit<T>(0x1.5555555555555p-1), tail);  // 2/3 + tail
  const T c_low = c.lo + lit<T>(0x1.5555555555555p-55);
  const T u = cube * c.hi;
  const T u_low = fma(cube, c.hi, -u) + fma(cube, c_low, cube_low * c.hi);
  const Sum<T> m = quick_two_sum(s + s, u);
  const Sum<T> total = two_sum(e * lit<T>(kLn2Hi<T>), m.hi);
  const T low = total.lo + (fma(e, lit<T>(kLn2Lo<T>), m.lo) + (s_low + s_low + u_low));
  return quick_two_sum(total.hi, low);
}

template <class T>
RW_SCALAR T pow_of_doubles(T log_special, T a, T y) {
  constexpr int kLift = kMantissa<T> + 2;
  const auto denormal = a < lit<T>(kSmallestNormal<T>);
  const T lifted = select(denormal, a * pow2<T>(lit_bits<T>(kLift)), a);
  const Sum<T> log = log_sum(lifted, select(denormal, lit<T>(kLift), lit<T>(0.0)));
  const auto ordinary = both(a > lit<T>(0.0), a < lit<T>(kInfinity));
  const T hi = select(ordinary, log.hi, log_special);
  const T product = y * hi;
  const T low = fma(y, log.lo, fma(y, hi, -product));
  const auto moderate = abs(product) < lit<T>(1000.0);
  return exp_corrected(product, select(moderate, low, lit<T>(0.0)), 0);
}

template <class T>
RW_SCALAR T pow(T x, T y) {
  const T zero = lit<T>(0.0), one = lit<T>(1.0);
  const T a = abs(x);
  const T log_special = select(a == zero, lit<T>(-kInfinity), a);  // of 0, infinity and NaN
  T magnitude;
  if constexpr (kIsDouble<T>) {
    magnitude = pow_of_doubles(log_special, a, y);
  } else {
    magnitude = narrow<T>(pow_of_floats(widen(log_special), widen(a), widen(y)));
  }
  const T half = y * lit<T>(0.5);
  const auto integer = trunc(y) == y;  // true for infinities
  const auto odd = both(integer, trunc(half) != half);
  const T signed_result = select(odd, copysign(magnitude, x), magnitude);
  const auto no_real = both(both(x < zero, opposite(integer)), a < lit<T>(kInfinity));
  const auto is_one = either(either(y == zero, x == one), both(x == -one, abs(y) == lit<T>(kInfinity)));
  return select(is_one, one, select(no_real, lit<T>(kNaN), signed_result));
}

}  // namespace rw::scalar
