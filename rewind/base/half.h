// float16 and bfloat16: storage types. Arithmetic happens in float and is rounded to nearest even on the way
// back, once per op, so that a kernel's result does not depend on how it was vectorised.
#pragma once

#include <bit>
#include <cstdint>

namespace rw {

struct Half;
struct Bfloat16;

// Branch-free, so that loops over them vectorise without F16C.
[[gnu::always_inline]] constexpr float half_bits_to_float(uint16_t h) {
  const uint32_t sign = uint32_t(h & 0x8000) << 16;
  const uint32_t magnitude = uint32_t(h & 0x7fff) << 13;
  // The exponent bias moves from 15 to 127. A denormal is made with the lowest normal exponent, from which
  // its leading one is subtracted: no denormal float is in between, since floats of kernels are flushed.
  const uint32_t normal = magnitude + (112u << 23);
  const float denormal = std::bit_cast<float>(magnitude + (113u << 23)) - 0x1p-14f;
  const uint32_t finite = magnitude < (1u << 23) ? std::bit_cast<uint32_t>(denormal) : normal;
  return std::bit_cast<float>(sign | (magnitude >= 0x0f800000u ? normal + (112u << 23) : finite));
}

[[gnu::always_inline]] constexpr uint16_t float_to_half_bits(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  // Denormal results: adding 2^-1 * 2^-13 lines the half's lowest bit up with the float's and rounds once.
  const float small = std::bit_cast<float>(magnitude) + 0.5f;
  const uint32_t denormal = std::bit_cast<uint32_t>(small) - 0x3f000000u;
  const uint32_t odd = (magnitude >> 13) & 1;
  const uint32_t normal = (magnitude - (112u << 23) + 0xfffu + odd) >> 13;
  const uint32_t nan = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
  const uint32_t finite = magnitude < (113u << 23) ? denormal : normal;
  return uint16_t(sign | (magnitude >= 0x47800000u ? nan : finite));
}

[[gnu::always_inline]] constexpr float bfloat16_bits_to_float(uint16_t b) {
  return std::bit_cast<float>(uint32_t(b) << 16);
}

[[gnu::always_inline]] constexpr uint16_t float_to_bfloat16_bits(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1)) >> 16;
  const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
  return uint16_t(is_nan ? 0x7fc0u | ((bits >> 16) & 0x8000u) : rounded);
}

struct Half {
  uint16_t bits = 0;
  constexpr Half() = default;
  [[gnu::always_inline]] constexpr explicit Half(float value) : bits(float_to_half_bits(value)) {}
  [[gnu::always_inline]] constexpr operator float() const {
    return half_bits_to_float(bits);
  }  // NOLINT: a value conversion
  static constexpr Half from_bits(uint16_t b) {
    Half h;
    h.bits = b;
    return h;
  }
};

struct Bfloat16 {
  uint16_t bits = 0;
  constexpr Bfloat16() = default;
  [[gnu::always_inline]] constexpr explicit Bfloat16(float value) : bits(float_to_bfloat16_bits(value)) {}
  [[gnu::always_inline]] constexpr operator float() const {
    return bfloat16_bits_to_float(bits);
  }  // NOLINT: a value conversion
  static constexpr Bfloat16 from_bits(uint16_t b) {
    Bfloat16 h;
    h.bits = b;
    return h;
  }
};

}  // namespace rw
