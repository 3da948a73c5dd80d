// The vocabulary in which every scalar function of this folder is written.
//
// Contract. A function here is a template over T: float, double, or a type that emits instructions.
//  - It uses only operators (+ - * / unary - and comparisons on T; + - * & | ^ << >> == < on Bits<T>) and the
//    functions of this file; a type that provides the same overloads and Traits gets the whole folder.
//  - No `if` and no loop bound depends on data: selects, `if constexpr`, constant trip counts, and `repeat`.
//  - Every primitive is correctly rounded, so the bits of a result do not depend on vector width, position in
//    a loop, or instruction set. NaN results are NaN everywhere; their sign and payload are not specified.
//  - Where the thread flushes denormals (base/float_mode.h), comparisons take them for zeros and the
//  operations on T
//    flush them, but select, abs, copysign, unary - and bits keep them. A result that a comparison chooses
//    from its own operands goes through flushed(): processors' min and max flush, and compilers may take them
//    for it. So does an operand that comes back through narrow(widen(x)), which compilers take for x.
//  - Bits<T> is unsigned; negative integers are its two's complement, >> is logical.
//  - Compile with -ffp-contract=off and without fast-math. Everything is always inlined: objects built for
//    different instruction sets share no out-of-line copy.
// The polynomial coefficients of this folder come from tools/fit_math.py.
#pragma once

#include <cstdint>

#define RW_SCALAR [[gnu::always_inline]] inline
#define RW_SCALAR_LAMBDA __attribute__((always_inline))

namespace rw::scalar {

template <class T>
struct Traits;

template <>
struct Traits<float> {
  using Bits = std::uint32_t;
  using Wide = double;  // the type that computes what T's own precision cannot
  static constexpr bool kIsDouble = false;
  static constexpr int kMantissa = 23;
  static constexpr int kBias = 127;
};

template <>
struct Traits<double> {
  using Bits = std::uint64_t;
  using Wide = double;
  static constexpr bool kIsDouble = true;
  static constexpr int kMantissa = 52;
  static constexpr int kBias = 1023;
};

template <class T>
using Bits = typename Traits<T>::Bits;
template <class T>
using Wide = typename Traits<T>::Wide;
template <class T>
inline constexpr bool kIsDouble = Traits<T>::kIsDouble;
template <class T>
inline constexpr int kMantissa = Traits<T>::kMantissa;
template <class T>
inline constexpr int kBias = Traits<T>::kBias;

// Constants. In C++ they fold; an emitting type overloads by specialising Literal.
template <class T>
struct Literal {
  RW_SCALAR static constexpr T value(double v) { return static_cast<T>(v); }
  RW_SCALAR static constexpr Bits<T> bits(std::uint64_t v) { return static_cast<Bits<T>>(v); }
};
template <class T>
RW_SCALAR constexpr T lit(double v) {
  return Literal<T>::value(v);
}
template <class T>
RW_SCALAR constexpr T lit(double for_float, double for_double) {
  return Literal<T>::value(kIsDouble<T> ? for_double : for_float);
}
template <class T>
RW_SCALAR constexpr Bits<T> lit_bits(std::uint64_t v) {
  return Literal<T>::bits(v);
}

inline constexpr double kInfinity = __builtin_inf();
inline constexpr double kNaN = __builtin_nan("");
template <class T>
inline constexpr double kSmallestNormal = kIsDouble<T> ? 0x1p-1022 : 0x1p-126;

// Bit casts and conversions.
RW_SCALAR std::uint32_t bits(float x) { return __builtin_bit_cast(std::uint32_t, x); }
RW_SCALAR std::uint64_t bits(double x) { return __builtin_bit_cast(std::uint64_t, x); }
RW_SCALAR float from_bits(std::uint32_t i) { return __builtin_bit_cast(float, i); }
RW_SCALAR double from_bits(std::uint64_t i) { return __builtin_bit_cast(double, i); }
RW_SCALAR double widen(float x) { return static_cast<double>(x); }
RW_SCALAR double widen(double x) { return x; }
template <class T>
RW_SCALAR T narrow(double x) {
  return static_cast<T>(x);
}
// Between Bits<float> and Bits<double>, keeping the low 32 bits.
RW_SCALAR std::uint64_t widen_bits(std::uint32_t i) { return i; }
RW_SCALAR std::uint64_t widen_bits(std::uint64_t i) { return i; }
template <class T>
RW_SCALAR Bits<T> narrow_bits(std::uint64_t i) {
  return static_cast<Bits<T>>(i);
}

// Conditions.
RW_SCALAR bool both(bool a, bool b) { return a & b; }
RW_SCALAR bool either(bool a, bool b) { return a | b; }
RW_SCALAR bool opposite(bool a) { return !a; }
RW_SCALAR float select(bool c, float a, float b) { return c ? a : b; }
RW_SCALAR double select(bool c, double a, double b) { return c ? a : b; }
RW_SCALAR std::uint32_t select(bool c, std::uint32_t a, std::uint32_t b) { return c ? a : b; }
RW_SCALAR std::uint64_t select(bool c, std::uint64_t a, std::uint64_t b) { return c ? a : b; }

// select in arithmetic, for places where the compiler would otherwise split the loop into two paths.
RW_SCALAR float blend(bool c, float a, float b) {
  const std::uint32_t mask = -static_cast<std::uint32_t>(c);
  return from_bits((bits(a) & mask) | (bits(b) & ~mask));
}
RW_SCALAR double blend(bool c, double a, double b) {
  const std::uint64_t mask = -static_cast<std::uint64_t>(c);
  return from_bits((bits(a) & mask) | (bits(b) & ~mask));
}

// Fused multiply-add, exactly rounded. Without the instruction, the float one is computed from doubles: their
// product is exact and their sum is rounded to odd, which makes the second rounding harmless.
RW_SCALAR double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
#if defined(__FMA__) || !defined(__x86_64__)
RW_SCALAR float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
#else
RW_SCALAR float fma(float a, float b, float c) {
  const double p = static_cast<double>(a) * b, d = c;
  const double s = p + d;
  const double t = s - p;
  const double lost = (p - (s - t)) + (d - t);
  const std::uint64_t i = __builtin_bit_cast(std::uint64_t, s);
  // Towards zero when what was lost points against s, then set the last bit.
  const std::uint64_t against = (__builtin_bit_cast(std::uint64_t, lost) ^ i) >> 63;
  const std::uint64_t odd = (i - against) | 1;
  const bool inexact = __builtin_fabs(lost) > 0.0;  // false for NaN
  return static_cast<float>(__builtin_bit_cast(double, inexact ? odd : i));
}
#endif

RW_SCALAR float sqrt(float x) { return __builtin_sqrtf(x); }
RW_SCALAR double sqrt(double x) { return __builtin_sqrt(x); }
RW_SCALAR float abs(float x) { return __builtin_fabsf(x); }
RW_SCALAR double abs(double x) { return __builtin_fabs(x); }
RW_SCALAR float copysign(float x, float s) { return __builtin_copysignf(x, s); }
RW_SCALAR double copysign(double x, double s) { return __builtin_copysign(x, s); }
RW_SCALAR float floor(float x) { return __builtin_floorf(x); }
RW_SCALAR double floor(double x) { return __builtin_floor(x); }
RW_SCALAR float ceil(float x) { return __builtin_ceilf(x); }
RW_SCALAR double ceil(double x) { return __builtin_ceil(x); }
RW_SCALAR float trunc(float x) { return __builtin_truncf(x); }
RW_SCALAR double trunc(double x) { return __builtin_trunc(x); }
RW_SCALAR float rint(float x) { return __builtin_rintf(x); }  // half to even
RW_SCALAR double rint(double x) { return __builtin_rint(x); }

// One value of a constant table; index < size of the table.
RW_SCALAR double lookup(const double* table, std::uint64_t index) { return table[index]; }

// Runs step(state) at most `count` times, for as long as it answers true. An emitting type may run all of
// them, keeping each lane's state from where its step first answered false.
template <int count, class State, class Step>
RW_SCALAR State repeat(State state, Step step) {
  if constexpr (__is_same(decltype(step(state)), bool)) {
    for (int i = 0; i < count; ++i) {
      if (!step(state)) break;
    }
    return state;
  } else {
    return emit_repeat<count>(state, step);  // of the emitting type
  }
}

// ---- Composed of the above; an emitting type need not provide these. ----

template <class T>
RW_SCALAR auto is_nan(T x) {
  return x != x;
}
template <class T>
RW_SCALAR auto is_inf(T x) {
  return abs(x) == lit<T>(kInfinity);
}
template <class T>
RW_SCALAR auto is_finite(T x) {
  return abs(x) < lit<T>(kInfinity);
}

// x itself, flushed if the thread flushes denormals. Compilers take x * 1 and x - 0 for x, but not this.
template <class T>
RW_SCALAR T flushed(T x) {
  return x + copysign(lit<T>(0.0), x);
}

// At most / at least a bound; NaN stays NaN.
template <class T>
RW_SCALAR T at_most(T x, double bound) {
  return select(x > lit<T>(bound), lit<T>(bound), x);
}
template <class T>
RW_SCALAR T at_least(T x, double bound) {
  return select(x < lit<T>(bound), lit<T>(bound), x);
}

template <class T>
RW_SCALAR T within(T x, double bound) {  // -bound to bound
  return select(abs(x) > lit<T>(bound), copysign(lit<T>(bound), x), x);
}

// 2^k for k in the exponents of normal numbers.
template <class T>
RW_SCALAR T pow2(Bits<T> k) {
  return from_bits((k + lit_bits<T>(kBias<T>)) << kMantissa<T>);
}

// 2^k = first * second, both normal, for k that may be as far out as the exponents of denormals.
template <class T>
struct TwoPowers {
  T first, second;
};
template <class T>
RW_SCALAR TwoPowers<T> two_powers(Bits<T> k) {
  constexpr int kOffset = kIsDouble<T> ? 4096 : 512;  // makes k positive for the logical shift
  const Bits<T> half = ((k + lit_bits<T>(kOffset)) >> 1) - lit_bits<T>(kOffset / 2);
  return {pow2<T>(half), pow2<T>(k - half)};
}

// x 2^k, right also where the result is denormal or infinite.
template <class T>
RW_SCALAR T scale(T x, Bits<T> k) {
  const TwoPowers<T> p = two_powers<T>(k);
  return x * p.first * p.second;
}

// x y rounded to the nearest integer, as T and as Bits<T>; |x y| < 2^(kMantissa - 2).
template <class T>
struct Rounded {
  T value;
  Bits<T> integer;
};
template <class T>
RW_SCALAR Rounded<T> round_product(T x, T y) {
  const T shift = lit<T>(0x1.8p23, 0x1.8p52);
  const T shifted = fma(x, y, shift);
  return {shifted - shift, bits(shifted) - bits(shift)};
}

// A small non-negative integer (below 2^kMantissa) as T.
template <class T>
RW_SCALAR T from_integer(Bits<T> i) {
  const T shift = lit<T>(0x1p23, 0x1p52);
  return from_bits(i | bits(shift)) - shift;
}

template <class T>
RW_SCALAR T flip_sign_if(Bits<T> odd, T x) {  // negates x when the lowest bit of odd is set
  return from_bits(bits(x) ^ (odd << (kIsDouble<T> ? 63 : 31)));
}

// c0 + x (c1 + x (c2 + ...)).
template <class T>
RW_SCALAR T polynomial(T, double c) {
  return lit<T>(c);
}
template <class T, class... Rest>
RW_SCALAR T polynomial(T x, double c, Rest... rest) {
  return fma(polynomial(x, rest...), x, lit<T>(c));
}

// Unevaluated sums hi + lo, for what needs more than T's precision.
template <class T>
struct Sum {
  T hi, lo;
};
template <class T>
RW_SCALAR Sum<T> two_sum(T a, T b) {
  const T s = a + b, t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}
template <class T>
RW_SCALAR Sum<T> quick_two_sum(T a, T b) {  // |a| >= |b|
  const T s = a + b;
  return {s, b - (s - a)};
}
template <class T>
RW_SCALAR Sum<T> two_product(T a, T b) {
  const T p = a * b;
  return {p, fma(a, b, -p)};
}

}  // namespace rw::scalar
