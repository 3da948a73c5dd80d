// Signs, remainders and neighbours of floating-point numbers (floor, ceil, rint, trunc are primitives).
#pragma once

#include "rewind/base/math/primitives.h"

namespace rw::scalar {

template <class T>
RW_SCALAR T sign(T x) {  // -1, +0, 1; NaN stays
  const T one = lit<T>(1.0), zero = lit<T>(0.0);
  return select(x > zero, one, select(x < zero, -one, x + zero));
}

// Smaller and larger of two; NaN if either is.
template <class T>
RW_SCALAR T minimum(T x, T y) {
  return flushed(select(either(x < y, is_nan(x)), x, y));
}
template <class T>
RW_SCALAR T maximum(T x, T y) {
  return flushed(select(either(x > y, is_nan(x)), x, y));
}

// x - y trunc(x / y), exact, with the sign of x. Each step subtracts the rounded quotient times y, which
// leaves an exact remainder at least 2^kMantissa times smaller; most arguments need one.
template <class T>
RW_SCALAR T trunc_mod(T x, T y) {
  using D = Wide<T>;
  constexpr int kSteps = kIsDouble<T> ? 48 : 8;
  const D zero = lit<D>(0.0);
  const D divisor = abs(widen(y));
  // Quotients of doubles may overflow: then multiples of y are subtracted first.
  const D far = divisor * lit<D>(0x1p700), farther = far * lit<D>(0x1p700);
  const D rest = repeat<kSteps>(abs(widen(x)), [&](D& r) RW_SCALAR_LAMBDA {
    D step = divisor;
    if constexpr (kIsDouble<T>) step = select(abs(r) > farther, farther, select(abs(r) > far, far, divisor));
    r = fma(-trunc(r / step), step, r);
    return abs(r) >= divisor;
  });
  // A quotient that was rounded up leaves a small negative remainder.
  const D positive = select(rest < zero, rest + divisor, rest);
  const T result = copysign(narrow<T>(positive), x);
  return select(both(abs(y) == lit<T>(kInfinity), is_finite(x)), x, result);
}

// The remainder with the sign of y.
template <class T>
RW_SCALAR T floor_mod(T x, T y) {
  const T zero = lit<T>(0.0);
  const T m = trunc_mod(x, y);
  const auto crosses = either(both(y<zero, m> zero), both(y >= zero, m < zero));
  return select(crosses, m + y, m);
}

template <class T>
RW_SCALAR T floor_div(T x, T y) {
  return floor(x / y);
}

// The next number from x towards y. By the bits alone: denormals count here.
template <class T>
RW_SCALAR T nextafter(T x, T y) {
  const Bits<T> zero = lit_bits<T>(0), one = lit_bits<T>(1);
  const Bits<T> sign = lit_bits<T>(std::uint64_t{1} << (kIsDouble<T> ? 63 : 31));
  const Bits<T> i = bits(x), j = bits(y);
  const Bits<T> size_x = i & (sign - one), size_y = j & (sign - one);
  // Away from zero is +1 in the bits on both sides.
  const auto away = both(((i ^ j) & sign) == zero, size_x < size_y);
  const Bits<T> step = select(size_x == zero, (j & sign) | one, select(away, i + one, i - one));
  const auto equal = either(i == j, (size_x | size_y) == zero);
  return select(either(is_nan(x), is_nan(y)), x + y, from_bits(select(equal, j, step)));
}

}  // namespace rw::scalar
