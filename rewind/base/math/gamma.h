// lgamma and digamma. Computed in double for float too: what cancels near their zeros then costs nothing.
#pragma once

#include "rewind/base/math/exp_log.h"
#include "rewind/base/math/trig.h"

namespace rw::scalar {

inline constexpr double kPi = 3.14159265358979323846;

// x = k/2 + r: the angle pi x, for |x| < 2^50.
template <class D>
RW_SCALAR Angle<D> angle_times_pi(D x) {
  const Rounded<D> k = round_product(x, lit<D>(2.0));
  const D r = fma(k.value, lit<D>(-0.5), x);
  const Sum<D> angle = two_product(r, lit<D>(kPi));
  return {angle.hi, fma(r, lit<D>(2.0 * kHalfPiLow), angle.lo), k.integer};
}

// lgamma(x) = (x - 1/2) log x - x + log(2 pi) / 2 + stirling_correction(x).
template <class D>
RW_SCALAR D stirling_correction(D x) {  // x >= 8
  const D u = lit<D>(1.0) / x;
  return u * polynomial(u * u, 1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188, -691.0 / 360360,
                        1.0 / 156, -3617.0 / 122400, 43867.0 / 244188, -174611.0 / 125400);
}

template <class D>
RW_SCALAR D lgamma_positive(D a) {
  const D one = lit<D>(1.0), two = lit<D>(2.0), zero = lit<D>(0.0);
  const D three = lit<D>(3.0), four = lit<D>(4.0);
  // Below 4: moved into [1, 2] by factors, where lgamma(y) = (y - 1) (y - 2) p(y).
  const auto tiny = a < one;
  const auto middle = a > two;
  const auto upper = a > three;
  const D y1 = blend(tiny, a, blend(upper, a - three, blend(middle, a - two, a - one)));  // y - 1
  const D y2 = blend(tiny, a - one, blend(upper, a - four, blend(middle, a - three, a - two)));
  const D p = polynomial(
      y1 - lit<D>(0.5), 0.48312895054098089, -0.14595989591430609, 0.062911401074564973,
      -0.031308487501009461, 0.016797098631180869, -0.0094256224486286918, 0.0054464578449660105,
      -0.0032120740696258436, 0.0019229161253999415, -0.0011644146740305954, 0.00071152257380416309,
      -0.00043799190304631673, 0.00027127285294083447, -0.00016892745561170962, 0.00010566120833864645,
      -6.6091356312600602e-5, 4.155606487737407e-5, -2.7360764650017116e-5, 1.757847646901284e-5,
      -8.0718385902309143e-6, 4.7323608761030283e-6, -7.9767402379249714e-6, 5.3938608871364748e-6);
  // From 4 on: Stirling's series, moved to 8 or more by the product of five.
  const auto low = a < lit<D>(8.0);
  const D product = a * (a + one) * (a + two) * (a + three) * (a + four);
  const D w = blend(low, a + lit<D>(5.0), a);
  const auto near = a < four;
  const D moved_by = blend(upper, (a - one) * (a - two), a - one);
  const D factor = blend(near, blend(tiny, a, blend(middle, moved_by, one)), blend(low, product, one));
  const D log_factor = log(factor);
  const D log_w = log(w);
  const D half_log_two_pi = lit<D>(0.91893853320467274178);
  const D series = fma(w, log_w - one, lit<D>(-0.5) * log_w) + (half_log_two_pi + stirling_correction(w));
  const D far = blend(low, series - log_factor, series);
  const D result = blend(near, fma(y1 * y2, p, blend(tiny, -log_factor, log_factor)), far);
  return blend(a == zero, lit<D>(kInfinity), blend(a < lit<D>(kInfinity), result, a));
}

// log |Gamma(x)|; infinite at the poles.
template <class T>
RW_SCALAR T lgamma(T x) {
  using D = Wide<T>;
  const D y = widen(x), a = abs(y), zero = lit<D>(0.0);
  const D positive = lgamma_positive(a);
  const auto reflect = y < lit<D>(-0x1p-60);  // closer to 0, Gamma(x) is 1 / x on both sides
  const D sine = abs(sin_of(angle_times_pi(at_most(a, 0x1p49))));
  const D reflected = log(lit<D>(kPi) / blend(reflect, a * sine, lit<D>(1.0))) - positive;
  const D pole = blend(floor(y) == y, lit<D>(kInfinity), reflected);
  return narrow<T>(blend(reflect, pole, blend(y == zero, lit<D>(kInfinity), positive)));
}

// The derivative of lgamma; NaN at the poles.
template <class D>
RW_SCALAR D digamma_wide(D x) {
  const D zero = lit<D>(0.0), one = lit<D>(1.0);
  const auto reflect = x <= zero;
  const D y = select(reflect, one - x, x);
  // Below 10: minus the sum of 1 / (y + i), kept as one quotient.
  const auto low = y < lit<D>(10.0);
  const D b = select(low, y, one);
  D numerator = one, denominator = b;
  for (int i = 1; i < 10; ++i) {
    const D next = b + lit<D>(i);
    numerator = fma(numerator, next, denominator);
    denominator = denominator * next;
  }
  const D w = select(low, y + lit<D>(10.0), y);
  const D u = one / w;
  const D z = u * u;
  const D series = log(w) - lit<D>(0.5) * u -
                   z * polynomial(z, 1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760,
                                  1.0 / 12, -3617.0 / 8160);
  const D positive = select(low, series - numerator / denominator, series);
  const D cotangent = lit<D>(kPi) / tan_of(angle_times_pi(select(reflect, x, one)));
  const D reflected = select(floor(x) == x, lit<D>(kNaN), positive - cotangent);
  return select(reflect, reflected, select(x < lit<D>(kInfinity), positive, x));
}

template <class T>
RW_SCALAR T digamma(T x) {
  return narrow<T>(digamma_wide(widen(x)));
}

}  // namespace rw::scalar
