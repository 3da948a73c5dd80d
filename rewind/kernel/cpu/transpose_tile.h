// A band of a matrix transpose: to[j * to_step + i] = from[i * from_step + j]. Blocks of one cache line by one cache
// line, and inside them squares that turn in vector registers (written with the compiler's portable vectors).
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace rw {

// Turns a 4x4 square of 4-byte elements, or a 2x2 square of 8-byte ones.
template <class T>
inline void transpose_square(T* to, int64_t to_step, const T* from, int64_t from_step) {
  if constexpr (sizeof(T) == 4) {
    typedef uint32_t V __attribute__((vector_size(16)));
    V r[4];
    for (int i = 0; i < 4; ++i) std::memcpy(&r[i], static_cast<const void*>(from + i * from_step), 16);
    const V a = __builtin_shufflevector(r[0], r[1], 0, 4, 1, 5), b = __builtin_shufflevector(r[2], r[3], 0, 4, 1, 5);
    const V c = __builtin_shufflevector(r[0], r[1], 2, 6, 3, 7), d = __builtin_shufflevector(r[2], r[3], 2, 6, 3, 7);
    const V t[4] = {__builtin_shufflevector(a, b, 0, 1, 4, 5), __builtin_shufflevector(a, b, 2, 3, 6, 7),
                    __builtin_shufflevector(c, d, 0, 1, 4, 5), __builtin_shufflevector(c, d, 2, 3, 6, 7)};
    for (int j = 0; j < 4; ++j) std::memcpy(static_cast<void*>(to + j * to_step), &t[j], 16);
  } else if constexpr (sizeof(T) == 8) {
    typedef uint64_t V __attribute__((vector_size(16)));
    V r[2];
    for (int i = 0; i < 2; ++i) std::memcpy(&r[i], static_cast<const void*>(from + i * from_step), 16);
    const V t[2] = {__builtin_shufflevector(r[0], r[1], 0, 2), __builtin_shufflevector(r[0], r[1], 1, 3)};
    for (int j = 0; j < 2; ++j) std::memcpy(static_cast<void*>(to + j * to_step), &t[j], 16);
  } else {
    *to = *from;
  }
}

template <class T>
void transpose_band(T* to, int64_t to_step, const T* from, int64_t from_step, int64_t rows, int64_t columns) {
  constexpr int64_t kBlock = std::max<int64_t>(8, 64 / int64_t(sizeof(T)));
  constexpr int64_t kSquare = sizeof(T) == 4 ? 4 : sizeof(T) == 8 ? 2 : 1;
  for (int64_t i0 = 0; i0 < rows; i0 += kBlock) {
    const int64_t ni = std::min(kBlock, rows - i0);
    for (int64_t j0 = 0; j0 < columns; j0 += kBlock) {
      const int64_t nj = std::min(kBlock, columns - j0);
      const T* f = from + i0 * from_step + j0;
      T* t = to + j0 * to_step + i0;
      const int64_t full_i = ni - ni % kSquare, full_j = nj - nj % kSquare;
      for (int64_t j = 0; j < full_j; j += kSquare)
        for (int64_t i = 0; i < full_i; i += kSquare)
          transpose_square(t + j * to_step + i, to_step, f + i * from_step + j, from_step);
      for (int64_t j = full_j; j < nj; ++j)
        for (int64_t i = 0; i < full_i; ++i) t[j * to_step + i] = f[i * from_step + j];
      for (int64_t j = 0; j < nj; ++j)
        for (int64_t i = full_i; i < ni; ++i) t[j * to_step + i] = f[i * from_step + j];
    }
  }
}

}  // namespace rw
