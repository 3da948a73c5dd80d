// asin, acos, atan, atan2.
//   atan: a quotient in [0, 1], moved by pi/4 into [-tan(pi/8), tan(pi/8)], then t + t z p(z), z = t^2.
//   asin: beyond 1/2, asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2)).
#pragma once

#include "rewind/base/math/trig.h"

namespace rw::scalar {

// m pi/4 + sign * atan(num / den), m a small integer as T, |num / den| <= tan(pi/8).
template <class T>
RW_SCALAR T atan_from(T t, T m, T sign) {
  const T z = t * t;
  T p;
  if constexpr (kIsDouble<T>) {
    p = polynomial(z, -0.33333333333333328, 0.19999999999997671, -0.14285714285388174, 0.11111111088186986,
                   -0.090909081448306713, 0.076922827649845341, -0.066662268446046319, 0.058770225996283362,
                   -0.052184092367819871, 0.045035679300772821, -0.033474860316199305, 0.015195535671430758);
  } else {
    p = polynomial(z, -0.333333154, 0.199984842, -0.142437421, 0.105951638, -0.0608121553);
  }
  const T s = t * sign;
  const T quarter = lit<T>(0.78539816339744830962);
  const T hi = m * quarter;
  const T low = m * lit<T>(-2.1855694e-8, 3.0616169978683830e-17) + fma(m, quarter, -hi);
  return hi + (s + fma(s * z, p, low));
}

template <class T>
inline constexpr double kTanEighth = 0.41421356237309504880;

template <class T>
RW_SCALAR T atan(T x) {
  const T a = abs(x), one = lit<T>(1.0), zero = lit<T>(0.0);
  const auto steep = a > one;
  const T n = select(steep, one, a), d = select(steep, a, one);
  const auto big = n > d * lit<T>(kTanEighth<T>);
  const T t = select(big, n - d, n) / select(big, n + d, d);
  const T m = select(big, one, select(steep, lit<T>(2.0), zero));
  return copysign(atan_from(t, m, select(steep, -one, one)), x);
}

template <class T>
RW_SCALAR T atan2(T y, T x) {
  const T one = lit<T>(1.0), zero = lit<T>(0.0), infinity = lit<T>(kInfinity);
  const T ay = abs(y), ax = abs(x);
  const auto flat = ay <= ax;
  const T lesser = select(flat, ay, ax), greater = select(flat, ax, ay);
  // Two infinities count as equal; halving keeps the sum below from overflowing.
  const auto infinite = greater == infinity;
  const T factor = select(greater > one, lit<T>(0.5), one);
  const T n = select(infinite, select(lesser == infinity, one, lesser * zero), lesser * factor);
  const T d = select(infinite, one, greater * factor);
  const auto big = n > d * lit<T>(kTanEighth<T>);
  const T quotient = select(big, n - d, n) / select(big, n + d, d);
  const T t = select(n == zero, zero, quotient);
  const auto behind = copysign(one, x) < zero;
  const T m = select(big, one, select(flat, zero, lit<T>(2.0)));
  const T sign = select(flat, one, -one);
  const T angle = atan_from(t, select(behind, lit<T>(4.0) - m, m), select(behind, -sign, sign));
  return copysign(select(either(is_nan(x), is_nan(y)), lit<T>(kNaN), angle), y);
}

// asin(|x|), or asin(sqrt((1 - |x|) / 2)) beyond 1/2.
template <class T>
RW_SCALAR T asin_part(T x) {
  const T a = abs(x);
  const auto far = a > lit<T>(0.5);
  const T z = select(far, (lit<T>(1.0) - a) * lit<T>(0.5), a * a);
  const T s = select(far, sqrt(z), a);
  T p;
  if constexpr (kIsDouble<T>) {
    p = polynomial(z, 0.16666666666666762, 0.0749999999997025, 0.044642857175130959, 0.030381942683189638,
                   0.022372215670959575, 0.017351599920496672, 0.013980963309452757, 0.011397762124012665,
                   0.010786600307969193, 0.0036827943746271962, 0.021764054107695945, -0.021078015475000023,
                   0.032677305652047744);
  } else {
    p = polynomial(z, 0.166667539, 0.074952441, 0.0454768023, 0.0241490566, 0.0422161372);
  }
  return fma(s * z, p, s);
}

template <class T>
RW_SCALAR T asin(T x) {
  const T p = asin_part(x);
  const auto is_far = abs(x) > lit<T>(0.5);
  const T half_pi = lit<T>(kHalfPi), low = lit<T>(-4.3711388e-8, kHalfPiLow);
  return copysign(select(is_far, half_pi - fma(lit<T>(2.0), p, -low), p), x);
}

template <class T>
RW_SCALAR T acos(T x) {
  const T p = asin_part(x);
  const auto is_far = abs(x) > lit<T>(0.5);
  const T half_pi = lit<T>(kHalfPi), low = lit<T>(-4.3711388e-8, kHalfPiLow);
  const auto negative = x < lit<T>(0.0);
  const T twice = p + p;
  const T far = select(negative, half_pi - ((twice - half_pi) - (low + low)), twice);
  const T near = half_pi - (copysign(p, x) - low);
  return select(is_far, far, near);
}

}  // namespace rw::scalar
