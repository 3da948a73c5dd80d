// The regularised incomplete gamma functions igamma = P(a, x), igammac = Q(a, x) = 1 - P, and the incomplete
// beta function betainc = I_x(a, b): a series or a continued fraction of at most kIncompleteSteps steps.
// Computed in double for float too.
#pragma once

#include "rewind/base/math/gamma.h"

namespace rw::scalar {

inline constexpr int kIncompleteSteps = 4000;
inline constexpr double kTinyQuotient = 1e-290;  // stands in for a zero denominator

template <class D>
RW_SCALAR D log1p_minus(D x) {  // log(1 + x) - x
  const D series = x * x *
                   polynomial(x, -1.0 / 2, 1.0 / 3, -1.0 / 4, 1.0 / 5, -1.0 / 6, 1.0 / 7, -1.0 / 8, 1.0 / 9,
                              -1.0 / 10, 1.0 / 11, -1.0 / 12, 1.0 / 13, -1.0 / 14);
  return select(abs(x) < lit<D>(0.06), series, log1p(x) - x);
}

// x^a e^-x / Gamma(a + 1). For large a the powers cancel: e^(a (log1p(m) - m)) / sqrt(2 pi a), m = x/a - 1.
template <class D>
RW_SCALAR D gamma_weight(D a, D x) {
  const D one = lit<D>(1.0);
  const auto large = a >= lit<D>(10.0);
  const D c = select(large, a, lit<D>(10.0));
  const D m = (x - c) / c;
  const D far = exp(fma(c, log1p_minus(m), -stirling_correction(c))) / sqrt(lit<D>(2.0 * kPi) * c);
  const D near = exp(fma(a, log(x), -x) - lgamma_positive(a + one));
  return select(large, far, near);
}

template <class D>
struct Series {
  D sum, term, n;
};

// P(a, x) / gamma_weight = 1 + x / (a + 1) + x^2 / ((a + 1) (a + 2)) + ..., for x below about a.
template <class D>
RW_SCALAR D gamma_series(D a, D x) {
  const D one = lit<D>(1.0);
  const auto s = repeat<kIncompleteSteps>(Series<D>{one, one, a}, [&](Series<D>& t) RW_SCALAR_LAMBDA {
    t.n = t.n + one;
    t.term = t.term * (x / t.n);
    t.sum = t.sum + t.term;
    return t.term > t.sum * lit<D>(0x1p-54);
  });
  return s.sum;
}

template <class D>
struct Fraction {  // Lentz's way: value, and the running numerator and denominator quotients
  D value, c, d, n;
};

template <class D>
RW_SCALAR D not_zero(D x) {
  return select(abs(x) < lit<D>(kTinyQuotient), lit<D>(kTinyQuotient), x);
}

// One level: ... + a / (b + ...). Answers whether the value still moves.
template <class D>
RW_SCALAR auto fraction_step(Fraction<D>& f, D a, D b) {
  const D one = lit<D>(1.0);
  f.d = one / not_zero(fma(a, f.d, b));
  f.c = not_zero(b + a / f.c);
  const D change = f.c * f.d;
  f.value = f.value * change;
  return abs(change - one) > lit<D>(0x1p-52);
}

// Q(a, x) Gamma(a) / (x^a e^-x), for x above 1 and about a.
template <class D>
RW_SCALAR D gamma_fraction(D a, D x) {
  const D one = lit<D>(1.0), two = lit<D>(2.0);
  const D first = not_zero(x + one - a);
  const Fraction<D> start{one / first, lit<D>(1.0 / kTinyQuotient), one / first, one};
  const auto f = repeat<kIncompleteSteps>(start, [&](Fraction<D>& t) RW_SCALAR_LAMBDA {
    const D n = t.n;
    t.n = n + one;
    return fraction_step(t, n * (a - n), x + one - a + two * n);
  });
  return f.value;
}

template <class D>
struct GammaPair {
  D p, q;
};
template <class D>
RW_SCALAR GammaPair<D> incomplete_gamma(D a, D x) {
  const D one = lit<D>(1.0), zero = lit<D>(0.0), infinity = lit<D>(kInfinity);
  const auto ordinary = both(both(a > zero, a < infinity), both(x > zero, x < infinity));
  const D b = select(ordinary, a, one), y = select(ordinary, x, one);
  const auto upper = both(y > one, y > b);
  const D weight = gamma_weight(b, y);
  const D series = weight * gamma_series(b, select(upper, zero, y));
  const D fraction = weight * b * gamma_fraction(select(upper, b, one), select(upper, y, lit<D>(50.0)));
  return {select(upper, one - fraction, series), select(upper, fraction, one - series)};
}

template <class T>
RW_SCALAR T igamma(T a, T x) {
  const T zero = lit<T>(0.0), infinity = lit<T>(kInfinity);
  const T p = narrow<T>(incomplete_gamma(widen(a), widen(x)).p);
  const T limit = select(a == infinity, zero, select(x == infinity, lit<T>(1.0), p));
  const auto defined = both(a > zero, x > zero);
  return select(either(x == zero, both(a == infinity, x > zero)), select(is_nan(a), a, zero),
                select(defined, limit, lit<T>(kNaN)));
}

template <class T>
RW_SCALAR T igammac(T a, T x) {
  const T zero = lit<T>(0.0), one = lit<T>(1.0), infinity = lit<T>(kInfinity);
  const T q = narrow<T>(incomplete_gamma(widen(a), widen(x)).q);
  const T limit = select(x == infinity, zero, select(either(x == zero, a == infinity), one, q));
  return select(both(a > zero, x >= zero), limit, lit<T>(kNaN));
}

// x^a (1 - x)^b / (a B(a, b)), with y = 1 - x; the powers cancel when both a and b are large.
template <class D>
RW_SCALAR D beta_weight(D a, D b, D x, D y) {
  const auto large = both(a >= lit<D>(10.0), b >= lit<D>(10.0));
  const D p = select(large, a, lit<D>(10.0)), q = select(large, b, lit<D>(10.0));
  const D s = p + q;
  const D delta = select(x < y, fma(s, x, -p), fma(-s, y, q));  // s x - p
  const D exponent = fma(p, log1p_minus(delta / p), q * log1p_minus(-delta / q));
  const D correction = stirling_correction(s) - stirling_correction(p) - stirling_correction(q);
  const D far = exp(exponent + correction) * sqrt(q / (s * p * lit<D>(2.0 * kPi)));
  const D log_x = select(x < y, log(x), log1p(-y)), log_y = select(x < y, log1p(-x), log(y));
  const D logs = fma(a, log_x, b * log_y);
  const D near = exp(logs + (lgamma_positive(a + b) - lgamma_positive(a) - lgamma_positive(b))) / a;
  return select(large, far, near);
}

// I_x(a, b) / beta_weight for x below (a + 1) / (a + b + 2); two levels of the fraction a step.
template <class D>
RW_SCALAR D beta_fraction(D a, D b, D x) {
  const D one = lit<D>(1.0), two = lit<D>(2.0);
  const D first = one / not_zero(one - (a + b) * x / (a + one));
  const auto f =
      repeat<kIncompleteSteps>(Fraction<D>{first, one, first, one}, [&](Fraction<D>& t) RW_SCALAR_LAMBDA {
        const D n = t.n, m = a + two * n;
        t.n = n + one;
        const D even = n * (b - n) * x / ((m - one) * m);
        const D odd = -(a + n) * (a + b + n) * x / (m * (m + one));
        const auto moved = fraction_step(t, even, one);
        return either(fraction_step(t, odd, one), moved);
      });
  return f.value;
}

template <class T>
RW_SCALAR T betainc(T a, T b, T x) {
  using D = Wide<T>;
  const D zero = lit<D>(0.0), one = lit<D>(1.0), infinity = lit<D>(kInfinity);
  const D p = widen(a), q = widen(b), y = widen(x);
  const auto defined =
      both(both(both(p > zero, p < infinity), both(q > zero, q < infinity)), both(y >= zero, y <= one));
  const auto inside = both(defined, both(y > zero, y < one));
  const D p1 = select(inside, p, one), q1 = select(inside, q, one), y1 = select(inside, y, lit<D>(0.5));
  const auto swap = y1 > (p1 + one) / (p1 + q1 + lit<D>(2.0));
  const D u = select(swap, q1, p1), v = select(swap, p1, q1);
  const D z = select(swap, one - y1, y1), rest = select(swap, y1, one - y1);
  const D part = beta_weight(u, v, z, rest) * beta_fraction(u, v, z);
  // x itself where it is 0 or 1, or a denormal that counts as 0: flushed, as narrow(widen(x)) may not be.
  const D result = select(inside, select(swap, one - part, part), flushed(y));
  return narrow<T>(select(defined, result, lit<D>(kNaN)));
}

}  // namespace rw::scalar
