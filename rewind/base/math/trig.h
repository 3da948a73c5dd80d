// sin, cos, tan: x = k pi/2 + r, |r| <= pi/4, then a polynomial of r^2 chosen by k mod 4.
// Small |x| reduces by three-part subtraction in T; larger ones by the bits of 2/pi that matter at their
// size, exact up to the largest number. Both ways always run, in a loop of vectors; a caller that knows all
// its |x| to be at most kSmallAngle<T> may use sin_small and friends, which give the same bits.
#pragma once

#include "rewind/base/math/primitives.h"
#include "rewind/base/math/trig_table.h"

namespace rw::scalar {

template <class T>
inline constexpr double kSmallAngle = kIsDouble<T> ? 0x1p24 : 0x1p17;

inline constexpr double kHalfPi = 0x1.921fb54442d18p+0;
inline constexpr double kHalfPiLow = 0x1.1a62633145c07p-54;

// r + low is the angle left of k quarter turns.
template <class T>
struct Angle {
  T r, low;
  Bits<T> k;
};

template <class T>
RW_SCALAR Angle<T> reduce_small(T x) {
  const Rounded<T> k = round_product(x, lit<T>(0.63661977236758134308));
  const T head = fma(k.value, lit<T>(-0x1.921fb6p+0, -kHalfPi), x);  // exact
  const T third = lit<T>(0x1.ee59dap-50, 0x1.f1976b7ed8fbcp-110);    // minus the third part of pi/2
  const T rest = fma(k.value, lit<T>(0x1.777a5cp-25, -kHalfPiLow), head);
  const T r = fma(k.value, third, rest);
  return {r, fma(k.value, third, rest - r), k.integer};
}

template <class D>
RW_SCALAR D nearest(D x) {  // |x| < 2^51
  const D shift = lit<D>(0x1.8p52);
  return (x + shift) - shift;
}

template <class T>
RW_SCALAR Angle<T> reduce_large(T x) {
  using D = Wide<T>;
  constexpr std::uint64_t kFirst = kIsDouble<T> ? 1023 + 24 : 127 + 17;  // the exponent of column 0
  const Bits<T> exponent = (bits(x) << 1) >> (kMantissa<T> + 1);
  // Infinities and NaN lie one exponent above the last column; whatever they are multiplied by gives NaN.
  const Bits<T> last = lit_bits<T>(kIsDouble<T> ? 2046 : 254);
  const Bits<T> above = select(last < exponent, last, exponent) - lit_bits<T>(kFirst);
  const Bits<T> column = select(exponent < lit_bits<T>(kFirst), lit_bits<T>(0), above);
  const D shift = lit<D>(0x1.8p52);
  if constexpr (kIsDouble<T>) {
    const Bits<D> j = column >> 5;
    const T y = x * lit<T>(0x1p-200);
    const Sum<T> p = two_product(y, lookup(kDoubleReduction[0], j));
    const Sum<T> q = two_product(y, lookup(kDoubleReduction[1], j));
    const Sum<T> s = two_product(y, lookup(kDoubleReduction[2], j));
    const T four = lit<T>(4.0), quarter = lit<T>(0.25);
    const T a = fma(-four, rint(p.hi * quarter), p.hi) + fma(-four, rint(p.lo * quarter), p.lo);
    const Sum<T> b = two_sum(a, fma(-four, rint(q.hi * quarter), q.hi));
    const T k = nearest(b.hi);
    const Sum<T> c = two_sum(q.lo, s.hi);
    const Sum<T> u = two_sum(b.hi - k, c.hi);
    const Sum<T> w = two_sum(u.hi, b.lo);
    const T low = w.lo + (u.lo + (c.lo + fma(y, lookup(kDoubleReduction[3], j), s.lo)));
    const Sum<T> turn = quick_two_sum(w.hi, low);
    const Sum<T> r = two_product(turn.hi, lit<T>(kHalfPi));
    return {r.hi, fma(turn.lo, lit<T>(kHalfPi), fma(turn.hi, lit<T>(kHalfPiLow), r.lo)), bits(k + shift)};
  } else {
    const Bits<D> j = widen_bits(column);
    const D y = widen(x);
    const D p = y * lookup(kFloatReduction[0], j);  // below 2^26
    const D rest = lookup(kFloatReduction[1], j);
    const D k = nearest(fma(y, rest, p));
    const D r = fma(y, rest, p - k) * lit<D>(kHalfPi);
    const T hi = narrow<T>(r);
    return {hi, narrow<T>(r - widen(hi)), narrow_bits<T>(bits(k + shift))};
  }
}

template <class T>
RW_SCALAR Angle<T> reduce_angle(T x) {
  const Angle<T> small = reduce_small(x), large = reduce_large(x);
  const auto is_small = abs(x) <= lit<T>(kSmallAngle<T>);
  return {select(is_small, small.r, large.r), select(is_small, small.low, large.low),
          select(is_small, small.k, large.k)};
}

template <class T>
struct SinCos {
  T sin, cos;
};
template <class T>
RW_SCALAR SinCos<T> sin_cos_of(Angle<T> a) {  // of r + low alone
  const T z = a.r * a.r;
  const T one = lit<T>(1.0);
  const T head = fma(z, lit<T>(-0.5), one);
  T sin_tail, cos_tail;
  if constexpr (kIsDouble<T>) {
    sin_tail = polynomial(z, -0.16666666666666632, 0.0083333333333223135, -0.00019841269829724251,
                          2.7557313661795549e-6, -2.5050753230313262e-8, 1.5896503253677994e-10);
    cos_tail = polynomial(z, 0.041666666666666599, -0.0013888888888873992, 2.480158728939591e-5,
                          -2.7557314326342062e-7, 2.0875719604139777e-9, -1.1359451171496205e-11);
  } else {
    sin_tail = polynomial(z, -0.166666549, 0.00833217359, -0.000195166643);
    cos_tail = polynomial(z, 0.0416666467, -0.00138873616, 2.44377479e-5);
  }
  const T lost = fma(z, lit<T>(-0.5), one - head);  // of the subtraction in head
  return {a.r + fma(a.r * z, sin_tail, a.low), head + (fma(z * z, cos_tail, lost) - a.r * a.low)};
}

template <class T>
RW_SCALAR T sin_of(Angle<T> a) {
  const SinCos<T> s = sin_cos_of(a);
  const T value = select((a.k & lit_bits<T>(1)) == lit_bits<T>(0), s.sin, s.cos);
  return flip_sign_if((a.k >> 1) & lit_bits<T>(1), value);
}

template <class T>
RW_SCALAR T tan_of(Angle<T> a) {
  const SinCos<T> s = sin_cos_of(a);
  const auto even = (a.k & lit_bits<T>(1)) == lit_bits<T>(0);
  return flip_sign_if(a.k & lit_bits<T>(1), select(even, s.sin, s.cos) / select(even, s.cos, s.sin));
}

template <class T>
RW_SCALAR Angle<T> quarter_turn_on(Angle<T> a) {
  return {a.r, a.low, a.k + lit_bits<T>(1)};
}

template <class T>
RW_SCALAR T keep_zero(T x, T result) {
  return select(x == lit<T>(0.0), x, result);
}  // for the sign of zero

template <class T>
RW_SCALAR T sin(T x) {
  return keep_zero(x, sin_of(reduce_angle(x)));
}
template <class T>
RW_SCALAR T cos(T x) {
  return sin_of(quarter_turn_on(reduce_angle(x)));
}
template <class T>
RW_SCALAR T tan(T x) {
  return keep_zero(x, tan_of(reduce_angle(x)));
}

template <class T>
RW_SCALAR T sin_small(T x) {
  return keep_zero(x, sin_of(reduce_small(x)));
}
template <class T>
RW_SCALAR T cos_small(T x) {
  return sin_of(quarter_turn_on(reduce_small(x)));
}
template <class T>
RW_SCALAR T tan_small(T x) {
  return keep_zero(x, tan_of(reduce_small(x)));
}

}  // namespace rw::scalar
