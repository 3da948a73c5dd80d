// Integer arithmetic with TensorFlow's meaning: everything wraps, nothing is undefined but division by zero,
// which callers rule out. I is any signed or unsigned integer type.
#pragma once

#include <cstdint>
#include <type_traits>

#include "rewind/base/math/primitives.h"

namespace rw::scalar::integer {

// Unsigned and at least as wide as int, so that products do not overflow after promotion.
template <class I>
using Carrier = std::conditional_t<(sizeof(I) < 8), std::uint32_t, std::uint64_t>;

template <class I>
RW_SCALAR I add(I x, I y) {
  return static_cast<I>(static_cast<Carrier<I>>(x) + static_cast<Carrier<I>>(y));
}
template <class I>
RW_SCALAR I subtract(I x, I y) {
  return static_cast<I>(static_cast<Carrier<I>>(x) - static_cast<Carrier<I>>(y));
}
template <class I>
RW_SCALAR I multiply(I x, I y) {
  return static_cast<I>(static_cast<Carrier<I>>(x) * static_cast<Carrier<I>>(y));
}
template <class I>
RW_SCALAR I negate(I x) {
  return subtract(I{0}, x);
}

template <class I>
RW_SCALAR I abs(I x) {
  return x < I{0} ? negate(x) : x;
}

template <class I>
RW_SCALAR I sign(I x) {
  return static_cast<I>((x > I{0}) - (x < I{0}));
}

template <class I>
RW_SCALAR I squared_difference(I x, I y) {
  const I d = subtract(x, y);
  return multiply(d, d);
}

// The smallest number divided by -1 wraps to itself; a divisor of 1 stands in for -1.
template <class I>
RW_SCALAR I trunc_div(I x, I y) {
  if constexpr (std::is_signed_v<I>) {
    const bool minus = y == I{-1};
    const I quotient = static_cast<I>(x / (minus ? I{1} : y));
    return minus ? negate(quotient) : quotient;
  } else {
    return static_cast<I>(x / y);
  }
}

template <class I>
RW_SCALAR I trunc_mod(I x, I y) {
  if constexpr (std::is_signed_v<I>) {
    return static_cast<I>(x % (y == I{-1} ? I{1} : y));
  } else {
    return static_cast<I>(x % y);
  }
}

template <class I>
RW_SCALAR I floor_mod(I x, I y) {
  const I m = trunc_mod(x, y);
  return ((m != I{0}) & ((m < I{0}) != (y < I{0}))) ? add(m, y) : m;
}

template <class I>
RW_SCALAR I floor_div(I x, I y) {
  const I q = trunc_div(x, y);
  const bool crosses = (trunc_mod(x, y) != I{0}) & ((x < I{0}) != (y < I{0}));
  return static_cast<I>(subtract(q, static_cast<I>(crosses)));
}

// x^y for y >= 0 by squaring; the trip count is the width of I.
template <class I>
RW_SCALAR I pow(I x, I y) {
  Carrier<I> base = static_cast<Carrier<I>>(x), result = 1;
  const auto exponent = static_cast<std::make_unsigned_t<I>>(y);
  for (unsigned bit = 0; bit < 8 * sizeof(I); ++bit) {
    result *= (exponent >> bit) & 1u ? base : Carrier<I>{1};
    base *= base;
  }
  return static_cast<I>(result);
}

// Shifts by less than zero or by the width and more count as the nearest that is defined.
template <class I>
RW_SCALAR unsigned shift_count(I y) {
  constexpr I kMost = static_cast<I>(8 * sizeof(I) - 1);
  return static_cast<unsigned>(y < I{0} ? I{0} : y > kMost ? kMost : y);
}
template <class I>
RW_SCALAR I left_shift(I x, I y) {
  return static_cast<I>(static_cast<Carrier<I>>(x) << shift_count(y));
}
template <class I>
RW_SCALAR I right_shift(I x, I y) {
  return static_cast<I>(x >> shift_count(y));
}

// The number of bits that are set, without the instruction that not every machine has.
template <class I>
RW_SCALAR std::uint32_t count_bits(I x) {
  const auto u = static_cast<std::make_unsigned_t<I>>(x);
  const auto count32 = [](std::uint32_t v) RW_SCALAR_LAMBDA {
    v = v - ((v >> 1) & 0x55555555u);
    v = (v & 0x33333333u) + ((v >> 2) & 0x33333333u);
    v = (v + (v >> 4)) & 0x0f0f0f0fu;
    return (v * 0x01010101u) >> 24;
  };
  if constexpr (sizeof(I) < 8) return count32(u);
  else return count32(static_cast<std::uint32_t>(u)) + count32(static_cast<std::uint32_t>(u >> 32));
}

}  // namespace rw::scalar::integer
