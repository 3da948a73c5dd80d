// The derivative of igamma in its first argument, and that of a gamma sample in its shape. Computed in double
// for float too.
#pragma once

#include "rewind/base/math/incomplete.h"

namespace rw::scalar {

template <class D>
struct SlopeSeries {
  D sum, slope, term, weight, n;
};

// dP/da over the density x^(a - 1) e^-x / Gamma(a), for a and x above 0.
//
// Mostly by P = weight (1 + x / (a + 1) + ...), term by term; each term's own derivative is minus itself
// times the sum of 1 / (a + k). Far out, where P is almost 1, by Q = density (1 + (a - 1) / x + (a - 1) (a -
// 2) / x^2 + ...).
template <class D>
RW_SCALAR D igamma_slope_over_density(D a, D x) {
  const D one = lit<D>(1.0), zero = lit<D>(0.0);
  const auto tail = x > fma(lit<D>(4.0), a, lit<D>(100.0));
  const D y = select(tail, one, x);
  const auto s =
      repeat<100000>(SlopeSeries<D>{one, zero, one, zero, a}, [&](SlopeSeries<D>& t) RW_SCALAR_LAMBDA {
        t.n = t.n + one;
        t.term = t.term * (y / t.n);
        t.weight = t.weight + one / t.n;
        t.sum = t.sum + t.term;
        t.slope = fma(-t.term, t.weight, t.slope);
        return either(t.term * t.weight > abs(t.slope) * lit<D>(0x1p-54), t.term > t.sum * lit<D>(0x1p-54));
      });
  const D near = x / a * fma(log(y) - digamma_wide(a + one), s.sum, s.slope);
  const D z = select(tail, x, lit<D>(1e4)), b = select(tail, a, one);
  const D inverse = one / z;
  D sum = one, slope = zero, term = one, term_slope = zero;
  for (int k = 1; k < 40; ++k) {
    const D factor = b - lit<D>(k);
    term_slope = fma(term_slope, factor, term) * inverse;
    term = term * factor * inverse;
    sum = sum + term;
    slope = slope + term_slope;
  }
  const D far = -fma(log(z) - digamma_wide(b), sum, slope);
  return select(tail, far, near);
}

template <class T>
RW_SCALAR T igamma_grad_a(T a, T x) {
  using D = Wide<T>;
  const D zero = lit<D>(0.0), one = lit<D>(1.0), infinity = lit<D>(kInfinity);
  const D p = widen(a), y = widen(x);
  const auto inside = both(both(p > zero, p < infinity), both(y > zero, y < infinity));
  const D p1 = select(inside, p, one), y1 = select(inside, y, one);
  const D density = gamma_weight(p1, y1) * (p1 / y1);
  const D value = igamma_slope_over_density(p1, y1) * density;
  const auto flat = both(both(p > zero, y >= zero), opposite(inside));
  return narrow<T>(select(inside, value, select(flat, zero, lit<D>(kNaN))));
}

// d sample / d alpha along a fixed quantile: -(dP/da) / density.
template <class T>
RW_SCALAR T random_gamma_grad(T alpha, T sample) {
  using D = Wide<T>;
  const D zero = lit<D>(0.0), one = lit<D>(1.0), infinity = lit<D>(kInfinity);
  const D p = widen(alpha), y = widen(sample);
  const auto inside = both(both(p > zero, p < infinity), both(y > zero, y < infinity));
  const D value = -igamma_slope_over_density(select(inside, p, one), select(inside, y, one));
  const auto flat = both(both(p > zero, y >= zero), opposite(inside));
  return narrow<T>(select(inside, value, select(flat, zero, lit<D>(kNaN))));
}

}  // namespace rw::scalar
