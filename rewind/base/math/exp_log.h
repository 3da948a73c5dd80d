// Exponentials and logarithms.
//   exp: x = k ln2 + r, |r| <= ln2 / 2, e^r = 1 + r + r^2 p(r), scaled by 2^k.
//   log: x = m 2^e, m in [sqrt(1/2), sqrt(2)), log x = e ln2 + log m.
#pragma once

#include "rewind/base/math/primitives.h"

namespace rw::scalar {

// ln2 in two parts; k times the first is exact enough for every exponent k (its last bits are zero).
template <class T>
inline constexpr double kLn2Hi = kIsDouble<T> ? 0x1.62e42fefa3800p-1 : 0x1.62e400p-1;
template <class T>
inline constexpr double kLn2Lo = kIsDouble<T> ? 0x1.ef35793c76730p-45 : 0x1.7f7d1cf79abcap-20;
inline constexpr double kLn2 = 0x1.62e42fefa39efp-1;
inline constexpr double kLog2E = 0x1.71547652b82fep+0;

// Beyond plus and minus this, exp is infinite and zero.
template <class T>
inline constexpr double kExpBound = kIsDouble<T> ? 746.0 : 104.0;

template <class T>
RW_SCALAR T exp_tail(T r) {  // (e^r - 1 - r) / r^2
  if constexpr (kIsDouble<T>) {
    return polynomial(r, 0.5, 0.16666666666666686, 0.04166666666666673, 0.0083333333333153766,
                      0.0013888888888856019, 0.00019841269900459105, 2.4801587378021076e-5,
                      2.7557230817768867e-6, 2.7557229994195707e-7, 2.5113437709952625e-8,
                      2.0927917740689434e-9);
  } else {
    return polynomial(r, 0.50000001, 0.166665129, 0.0416661858, 0.00836959541, 0.00139517842);
  }
}

// x = k ln2 + r.
template <class T>
struct ExpParts {
  T r;
  Bits<T> k;
};
template <class T>
RW_SCALAR ExpParts<T> exp_reduce(T x) {
  const Rounded<T> k = round_product(x, lit<T>(kLog2E));
  const T r = fma(k.value, lit<T>(-kLn2Lo<T>), fma(k.value, lit<T>(-kLn2Hi<T>), x));
  return {r, k.integer};
}

// e^(x + low) 2^shift for a small correction low: what pow, sinh, erfc need.
template <class T>
RW_SCALAR T exp_corrected(T x, T low, int shift) {
  const ExpParts<T> e = exp_reduce(within(x, kExpBound<T> + 2.0));
  const T r = e.r + low;
  return scale(fma(r * r, exp_tail(r), r) + lit<T>(1.0),
               e.k + lit_bits<T>(static_cast<std::uint64_t>(shift)));
}

template <class T>
RW_SCALAR T exp(T x) {
  const ExpParts<T> e = exp_reduce(within(x, kExpBound<T>));
  return scale(fma(e.r * e.r, exp_tail(e.r), e.r) + lit<T>(1.0), e.k);
}

// Where result and x are far from the ends: |x| <= kExpNormal.
template <class T>
inline constexpr double kExpNormal = kIsDouble<T> ? 708.0 : 87.0;
template <class T>
RW_SCALAR T exp_normal(T x) {
  const ExpParts<T> e = exp_reduce(x);
  return from_bits(bits(fma(e.r * e.r, exp_tail(e.r), e.r) + lit<T>(1.0)) + (e.k << kMantissa<T>));
}

template <class T>
RW_SCALAR T exp2(T x) {
  const T y = within(x, kIsDouble<T> ? 1076.0 : 152.0);
  const Rounded<T> k = round_product(y, lit<T>(1.0));
  const T f = y - k.value;
  // f ln2 as r + low, so that the rounding of the product is not multiplied into the result.
  const T r = f * lit<T>(kLn2);
  const T low = fma(f, lit<T>(kLn2), -r) + f * lit<T>(-1.90465429995776780e-9, 2.3190468138462996e-17);
  return scale(fma(r * r, exp_tail(r), low) + r + lit<T>(1.0), k.integer);
}

template <class T>
RW_SCALAR T expm1(T x) {
  const ExpParts<T> e = exp_reduce(at_least(x, kIsDouble<T> ? -50.0 : -30.0));
  const T tail = fma(e.r * e.r, exp_tail(e.r), e.r);
  // 2^k tail + (2^k - 1), at half size so that 2^k does not overflow before the result does.
  const T half = pow2<T>(e.k - lit_bits<T>(1));
  // At half size the smallest normal numbers would be denormals: they are x.
  const T result = select(abs(x) < lit<T>(4.0 * kSmallestNormal<T>), e.r,
                          fma(half, tail, half - lit<T>(0.5)) * lit<T>(2.0));
  return copysign(select(x > lit<T>(89.0, 710.0), lit<T>(kInfinity), result), x);
}

// x = (1 + f) 2^e for normal positive x, sqrt(1/2) <= 1 + f < sqrt(2).
template <class T>
struct LogParts {
  T f, e;
  Bits<T> biased;  // e + kBias
};
template <class T>
RW_SCALAR LogParts<T> log_reduce(T x) {
  constexpr std::uint64_t kSqrtHalf = kIsDouble<T> ? 0x3fe6a09e667f3bcd : 0x3f3504f3;
  constexpr std::uint64_t kOne = std::uint64_t{kBias<T>} << kMantissa<T>;
  constexpr std::uint64_t kFraction = (std::uint64_t{1} << kMantissa<T>)-1;
  const Bits<T> i = bits(x) + lit_bits<T>(kOne - kSqrtHalf);
  const Bits<T> biased = i >> kMantissa<T>;
  const T m = from_bits((i & lit_bits<T>(kFraction)) + lit_bits<T>(kSqrtHalf));
  return {m - lit<T>(1.0), from_integer<T>(biased) - lit<T>(kBias<T>), biased};
}

// log(1 + f) + e ln2 for |f| within log_reduce's range.
template <class T>
RW_SCALAR T log_combine(T f, T e) {
  const T half_square = lit<T>(0.5) * f * f;
  if constexpr (kIsDouble<T>) {
    // With s = f / (2 + f): log(1 + f) = f - (f^2/2 - s (f^2/2 + z p(z))), z = s^2.
    const T s = f / (f + lit<T>(2.0));
    const T z = s * s;
    const T p =
        z * polynomial(z, 0.66666666666666661, 0.40000000000006244, 0.28571428569087103, 0.22222222646599302,
                       0.18181775682080013, 0.15387090006636916, 0.13250135564976684, 0.1325116660683776);
    const T small = fma(s, half_square + p, e * lit<T>(kLn2Lo<T>));
    return fma(e, lit<T>(kLn2Hi<T>), f - (half_square - small));
  } else {
    const T p = polynomial(f, 0.333333317, -0.250008209, 0.200012242, -0.166233592, 0.142018118, -0.131602151,
                           0.127612505, -0.0763403655);
    const T small = fma(f * f * f, p, e * lit<T>(kLn2Lo<T>)) - half_square;
    return fma(e, lit<T>(kLn2Hi<T>), f + small);
  }
}

// log's answers for x that is not a positive finite number.
template <class T>
RW_SCALAR T log_specials(T x, T result) {
  const T special = select(x < lit<T>(0.0), lit<T>(kNaN), select(x == lit<T>(0.0), lit<T>(-kInfinity), x));
  return select(both(x > lit<T>(0.0), x < lit<T>(kInfinity)), result, special);
}

template <class T>
RW_SCALAR T log(T x) {
  constexpr int kLift = kMantissa<T> + 2;  // brings denormals into the normal range
  const auto denormal = x < lit<T>(kSmallestNormal<T>);
  const T lifted = select(denormal, x * pow2<T>(lit_bits<T>(kLift)), x);
  const LogParts<T> parts = log_reduce(lifted);
  const T e = select(denormal, parts.e - lit<T>(kLift), parts.e);
  return log_specials(x, log_combine(parts.f, e));
}

template <class T>
RW_SCALAR T log1p(T x) {
  const T one = lit<T>(1.0);
  const T u = one + x;
  // What the sum lost, scaled like u's mantissa: near 1, f + lost is x itself.
  const T lost = select(x < one, x - (u - one), one - (u - x));
  const LogParts<T> parts = log_reduce(u);
  const T inverse = from_bits((lit_bits<T>(2 * kBias<T> + 1) - parts.biased) << kMantissa<T>);  // 2^(1 - e)
  const T result = log_combine(fma(lost, lit<T>(0.5) * inverse, parts.f), parts.e);
  // u is 0 at x = -1, and x itself for zeros keeps the sign.
  return select(x == lit<T>(0.0), x, log_specials(u, result));
}

// log2 and log10 scale log; exact powers come out exact.
template <class T>
RW_SCALAR T log2(T x) {
  constexpr int kLift = kMantissa<T> + 2;
  const auto denormal = x < lit<T>(kSmallestNormal<T>);
  const T lifted = select(denormal, x * pow2<T>(lit_bits<T>(kLift)), x);
  const LogParts<T> parts = log_reduce(lifted);
  const T e = select(denormal, parts.e - lit<T>(kLift), parts.e);
  return log_specials(x, fma(log_combine(parts.f, lit<T>(0.0)), lit<T>(kLog2E), e));
}

template <class T>
RW_SCALAR T log10(T x) {
  return log(x) * lit<T>(0.43429448190325182765);
}

}  // namespace rw::scalar
