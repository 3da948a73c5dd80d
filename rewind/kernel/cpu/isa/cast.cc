// Loops: conversions between all pairs of real types and bool.
//
// Floats are truncated on the way to integers. What does not fit (TensorFlow leaves it to the processor, and
// its answer depends on an element's place) is the same everywhere here: the smallest int32 or int64,
// saturation for 8 and 16 bits after that, the top bit alone for uint32 and uint64; negative floats wrap in
// uint32 and uint64.
#include "rewind/kernel/cpu/isa/rows.h"

namespace rw::RW_ISA {
namespace {

// Truncation; the smallest I where x is not in [-limit, limit) (limit is 2^31 or 2^63, and NaN is in no
// range).
template <class I, class F>
[[gnu::always_inline]] inline I truncate(F x, F limit) {
  const bool fits = (x >= -limit) & (x < limit);
  const I value = static_cast<I>(fits ? x : F(0));
  return fits ? value : I(I(1) << (8 * sizeof(I) - 1));
}

template <class I>
[[gnu::always_inline]] inline I saturate(int32_t v) {
  constexpr int32_t kLow = std::is_signed_v<I> ? -(1 << (8 * sizeof(I) - 1)) : 0;
  constexpr int32_t kHigh = std::is_signed_v<I> ? -kLow - 1 : (1 << (8 * sizeof(I))) - 1;
  return static_cast<I>(v < kLow ? kLow : v > kHigh ? kHigh : v);
}

template <class To, class From>
[[gnu::always_inline]] inline To convert(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if constexpr (sizeof(To) < 4) {
      return saturate<To>(truncate<int32_t>(x, From(0x1p31)));
    } else if constexpr (std::is_signed_v<To>) {
      return truncate<To>(x, sizeof(To) == 4 ? From(0x1p31) : From(0x1p63));
    } else {
      using I = std::make_signed_t<To>;
      const From half = sizeof(To) == 4 ? From(0x1p31) : From(0x1p63);
      const bool upper = (x >= half) & (x < half + half);
      const To value = static_cast<To>(truncate<I>(upper ? x - half : x, half));
      return upper ? To(value + (To(1) << (8 * sizeof(To) - 1))) : value;
    }
  } else {
    return static_cast<To>(x);
  }
}

template <class From, class To>
void cast_loop(const void* x, void* out, int64_t n) {
  if constexpr (std::is_same_v<From, To>) {
    __builtin_memcpy(out, x, size_t(n) * sizeof(From));
  } else if constexpr (is_small_float<From> && std::is_same_v<To, bool>) {
    // By their bits, as TensorFlow does: their denormals are true, those of float and double zeros.
    const uint16_t* __restrict a = static_cast<const uint16_t*>(x);
    bool* __restrict o = static_cast<bool*>(out);
    for (int64_t i = 0; i < n; ++i) o[i] = (a[i] & 0x7fff) != 0;
  } else if constexpr (is_small_float<From>) {
    // Rounding to a 16-bit float is part of over_blocks.
    using Middle = std::conditional_t<is_small_float<To>, float, To>;
    unary_blocks<From, To>(cast_loop<float, Middle>, x, out, n);
  } else if constexpr (is_small_float<To> && !std::is_same_v<From, float>) {
    // Integers and doubles are rounded to float first, as TensorFlow does.
    over_blocks<To>(out, n, [&](int64_t i, int64_t count, void* o) {
      cast_loop<From, float>(element<From>(x, i), o, count);
    });
  } else if constexpr (is_small_float<To>) {
    round_block<To>(static_cast<const float*>(x), out, n);
  } else {
    const From* __restrict a = static_cast<const From*>(x);
    To* __restrict o = static_cast<To*>(out);
    for (int64_t i = 0; i < n; ++i) o[i] = convert<To>(a[i]);
  }
}

}  // namespace

const UnaryRow* cast_rows() {
  static constinit Rows<UnaryRow, 169> rows;
  constexpr DTypeSet kSet = kRealTypes | set_of(DType::kBool);
  if (rows.count == 0) {
    for_each_type<kSet>([&]<class From>() {
      for_each_type<kSet>(
          [&]<class To>() { rows.add({"Cast", dtype_of<From>, dtype_of<To>, cast_loop<From, To>}); });
    });
  }
  return rows.rows;
}

}  // namespace rw::RW_ISA
