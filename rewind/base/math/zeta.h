// Hurwitz's zeta function and polygamma, in double for float too.
#pragma once

#include "rewind/base/math/gamma.h"
#include "rewind/base/math/pow.h"

namespace rw::scalar {

template <class D>
struct ZetaSum {
  D sum, at, n;
};

// sum over k >= 0 of (q + k)^-x: ten terms and those up to q + k = 10, then Euler and Maclaurin's formula.
// Defined for x > 1, and for negative q when x is an integer; at the poles q = 0, -1, ... infinite for even
// x, else NaN.
template <class D>
RW_SCALAR D zeta_wide(D x, D q) {
  constexpr int kMostTerms = 1 << 16;  // reached only by q far below zero
  const D zero = lit<D>(0.0), one = lit<D>(1.0), half = lit<D>(0.5);
  const auto whole = floor(q) == q;
  const auto pole = both(q <= zero, whole);
  const D start = select(either(pole, is_nan(q)), one, q);
  const ZetaSum<D> s = repeat<kMostTerms>(ZetaSum<D>{zero, start, zero}, [&](ZetaSum<D>& t) RW_SCALAR_LAMBDA {
    const auto more = either(t.at <= lit<D>(10.0), t.n < lit<D>(10.0));
    t.n = t.n + one;
    t.sum = select(more, t.sum + pow(t.at, -x), t.sum);
    t.at = select(more, t.at + one, t.at);
    return more;
  });
  const D w = s.at;
  const D last = pow(w, -x);
  D result = s.sum + last * w / (x - one) + half * last;
  // B_2j / (2j)! x (x + 1) ... (x + 2j - 2) w^(1 - x - 2j)
  constexpr double kTerms[] = {1.0 / 12,
                               -1.0 / 720,
                               1.0 / 30240,
                               -1.0 / 1209600,
                               1.0 / 47900160,
                               -691.0 / 1307674368000.0,
                               1.0 / 74724249600.0,
                               -3617.0 / 10670622842880000.0,
                               43867.0 / 5109094217170944000.0,
                               -174611.0 / 802857662698291200000.0};
  const D inverse = one / w;
  D factor = x * last * inverse;
  for (int j = 0; j < 10; ++j) {
    result = fma(factor, lit<D>(kTerms[j]), result);
    factor = factor * ((x + lit<D>(2 * j + 1)) * inverse) * ((x + lit<D>(2 * j + 2)) * inverse);
  }
  // Infinite x leaves 0, 1 or infinity by the first term; infinite q leaves 0.
  const D limit = select(q == one, one, select(q < one, lit<D>(kInfinity), zero));
  result = select(x == lit<D>(kInfinity), limit, select(q == lit<D>(kInfinity), zero, result));
  const auto even = both(floor(x) == x, floor(x * half) == x * half);
  result = select(pole, select(even, lit<D>(kInfinity), lit<D>(kNaN)), result);
  const auto undefined =
      either(either(x < one, is_nan(q)), both(both(q < zero, opposite(whole)), floor(x) != x));
  return select(x == one, lit<D>(kInfinity), select(undefined, lit<D>(kNaN), result));
}

template <class T>
RW_SCALAR T zeta(T x, T q) {
  return narrow<T>(zeta_wide(widen(x), widen(q)));
}

// The n-th derivative of digamma: (-1)^(n + 1) n! zeta(n + 1, x); NaN when n is no natural number.
template <class T>
RW_SCALAR T polygamma(T n, T x) {
  using D = Wide<T>;
  const D order = widen(n), y = widen(x), one = lit<D>(1.0), zero = lit<D>(0.0);
  const auto natural = both(floor(order) == order, order >= zero);
  const D next = select(both(natural, order > zero), order + one, lit<D>(2.0));
  const D factorial = exp(lgamma_positive(next));
  const D half = next * lit<D>(0.5);
  const D magnitude = factorial * zeta_wide(next, y);
  const D derivative = select(floor(half) == half, magnitude, -magnitude);
  return narrow<T>(select(natural, select(order == zero, digamma_wide(y), derivative), lit<D>(kNaN)));
}

}  // namespace rw::scalar
