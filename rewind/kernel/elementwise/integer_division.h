// Division of integers without the divide instructions, of which there are none on vectors: quotients of
// numbers of up to 32 bits go through a float type that holds both exactly. The nearest whole number above a
// quotient x / y that is not whole lies at least 1 / |y| away, which is more than rounding can do to it.
#pragma once

#include "rewind/base/math/integer.h"

namespace rw::scalar::integer {

// trunc_div(x, y) in other words; y is not zero.
template <class I>
RW_SCALAR I quick_trunc_div(I x, I y) {
  if constexpr (sizeof(I) == 8) {
    return trunc_div(x, y);
  } else {
    using Exact = std::conditional_t<(sizeof(I) < 4), float, double>;
    using Whole = std::conditional_t<(sizeof(I) < 4), int32_t, I>;
    if constexpr (std::is_signed_v<I>) {
      const bool minus = y == I{-1};
      const I divisor = minus ? I{1} : y;
      const I quotient =
          static_cast<I>(static_cast<Whole>(static_cast<Exact>(x) / static_cast<Exact>(divisor)));
      return minus ? negate(quotient) : quotient;
    } else {
      return static_cast<I>(static_cast<Whole>(static_cast<Exact>(x) / static_cast<Exact>(y)));
    }
  }
}

template <class I>
RW_SCALAR I quick_trunc_mod(I x, I y) {
  if constexpr (sizeof(I) == 8) return trunc_mod(x, y);
  else return subtract(x, multiply(quick_trunc_div(x, y), y));
}

template <class I>
RW_SCALAR I quick_floor_mod(I x, I y) {
  const I m = quick_trunc_mod(x, y);
  return ((m != I{0}) & ((m < I{0}) != (y < I{0}))) ? add(m, y) : m;
}

template <class I>
RW_SCALAR I quick_floor_div(I x, I y) {
  if constexpr (sizeof(I) == 8) {
    return floor_div(x, y);
  } else {
    const I q = quick_trunc_div(x, y);
    const bool crosses = (subtract(x, multiply(q, y)) != I{0}) & ((x < I{0}) != (y < I{0}));
    return static_cast<I>(subtract(q, static_cast<I>(crosses)));
  }
}

}  // namespace rw::scalar::integer
