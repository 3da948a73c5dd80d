// The elementwise tables of this instruction set, in one place.
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "rewind/kernel/cpu/isa/isa.h"

namespace rw::RW_ISA {

const UnaryRow* arithmetic_rows();
const UnaryRow* exponential_rows();
const UnaryRow* trigonometric_rows();
const UnaryRow* special_rows();
const UnaryRow* bessel_rows();
const UnaryRow* integral_rows();
const UnaryRow* cast_rows();
const BinaryRow* binary_arithmetic_rows();
const BinaryRow* comparison_rows();
const BinaryRow* activation_grad_rows();
const BinaryRow* binary_special_rows();
const TernaryRow* ternary_rows();
TernaryLoop select_loop(size_t element_size);

namespace {

void move_past_caches(const void* from, void* to, int64_t bytes) {
  const char* f = static_cast<const char*>(from);
  char* t = static_cast<char*>(to);
  int64_t b = 0;
#if defined(__AVX512F__)
  for (; b + 64 <= bytes; b += 64)
    _mm512_stream_si512(reinterpret_cast<__m512i*>(t + b), _mm512_loadu_si512(f + b));
#elif defined(__AVX2__)
  for (; b + 32 <= bytes; b += 32)
    _mm256_stream_si256(reinterpret_cast<__m256i*>(t + b),
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(f + b)));
#elif defined(__SSE2__)
  for (; b + 16 <= bytes; b += 16)
    _mm_stream_si128(reinterpret_cast<__m128i*>(t + b),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(f + b)));
#endif
  __builtin_memcpy(t + b, f + b, size_t(bytes - b));
}

void finish_moves() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

}  // namespace

const ElementwiseLoops* elementwise_loops() {
  static const UnaryRow* const unary[] = {arithmetic_rows(),
                                          exponential_rows(),
                                          trigonometric_rows(),
                                          special_rows(),
                                          bessel_rows(),
                                          integral_rows(),
                                          nullptr};
  static const BinaryRow* const binary[] = {binary_arithmetic_rows(), comparison_rows(),
                                            activation_grad_rows(), binary_special_rows(), nullptr};
  static const TernaryRow* const ternary[] = {ternary_rows(), nullptr};
  static const ElementwiseLoops all = {unary,       binary,           ternary,     cast_rows(),
                                       select_loop, move_past_caches, finish_moves};
  return &all;
}

}  // namespace rw::RW_ISA
