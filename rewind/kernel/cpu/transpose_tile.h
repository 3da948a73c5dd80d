// A band of a matrix transpose: to[j * to_step + i] = from[i * from_step + j]. Blocks of one cache line by
// one cache line are turned in a small buffer, so that each line of memory is read once and written once
// whatever the steps are; squares inside them turn in vector registers (the compiler's portable vectors).
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace rw {

template <class V, class T>
inline V load_vector(const T* from) {
  V v;
  std::memcpy(&v, static_cast<const void*>(from), sizeof v);
  return v;
}
template <class V, class T>
inline void store_vector(T* to, V v) {
  std::memcpy(static_cast<void*>(to), &v, sizeof v);
}

// Turns a 4x4 square of 4-byte elements, or a 2x2 square of 8-byte ones.
template <class T>
inline void transpose_square(T* to, int64_t to_step, const T* from, int64_t from_step) {
  if constexpr (sizeof(T) == 4) {
    typedef uint32_t V __attribute__((vector_size(16)));
    const V r0 = load_vector<V>(from), r1 = load_vector<V>(from + from_step);
    const V r2 = load_vector<V>(from + 2 * from_step), r3 = load_vector<V>(from + 3 * from_step);
    const V a = __builtin_shufflevector(r0, r1, 0, 4, 1, 5), b = __builtin_shufflevector(r2, r3, 0, 4, 1, 5);
    const V c = __builtin_shufflevector(r0, r1, 2, 6, 3, 7), d = __builtin_shufflevector(r2, r3, 2, 6, 3, 7);
    store_vector(to, __builtin_shufflevector(a, b, 0, 1, 4, 5));
    store_vector(to + to_step, __builtin_shufflevector(a, b, 2, 3, 6, 7));
    store_vector(to + 2 * to_step, __builtin_shufflevector(c, d, 0, 1, 4, 5));
    store_vector(to + 3 * to_step, __builtin_shufflevector(c, d, 2, 3, 6, 7));
  } else if constexpr (sizeof(T) == 8) {
    typedef uint64_t V __attribute__((vector_size(16)));
    const V r0 = load_vector<V>(from), r1 = load_vector<V>(from + from_step);
    store_vector(to, __builtin_shufflevector(r0, r1, 0, 2));
    store_vector(to + to_step, __builtin_shufflevector(r0, r1, 1, 3));
  } else {
    *to = *from;
  }
}

template <class T>
inline void transpose_block(T* to, int64_t to_step, const T* from, int64_t from_step, int64_t rows,
                            int64_t columns) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) to[j * to_step + i] = from[i * from_step + j];
}

template <class T>
void transpose_band(T* to, int64_t to_step, const T* from, int64_t from_step, int64_t rows, int64_t columns) {
  constexpr int64_t kBlock = std::max<int64_t>(4, 64 / int64_t(sizeof(T)));
  constexpr int64_t kSquare = sizeof(T) == 4 ? 4 : sizeof(T) == 8 ? 2 : 1;
  alignas(64) T turned[kBlock * kBlock];
  for (int64_t i = 0; i < rows; i += kBlock) {
    const int64_t ni = std::min(kBlock, rows - i);
    for (int64_t j = 0; j < columns; j += kBlock) {
      const int64_t nj = std::min(kBlock, columns - j);
      const T* f = from + i * from_step + j;
      T* t = to + j * to_step + i;
      if (ni < kBlock || nj < kBlock) {
        transpose_block(t, to_step, f, from_step, ni, nj);
        continue;
      }
      for (int64_t p = 0; p < kBlock; p += kSquare)
        for (int64_t q = 0; q < kBlock; q += kSquare)
          transpose_square(turned + q * kBlock + p, kBlock, f + p * from_step + q, from_step);
      for (int64_t q = 0; q < kBlock; ++q)
        std::memcpy(static_cast<void*>(t + q * to_step), turned + q * kBlock, sizeof(T) * kBlock);
    }
  }
}

}  // namespace rw
