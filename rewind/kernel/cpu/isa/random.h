// Loops of the random ops: Philox 4x32-10 and the conversions of its words.
#pragma once

#include <cstdint>

namespace rw {

// A counter-based generator's state: block i of the stream is a function of key and counter + i alone.
struct Philox {
  uint64_t key = 0;
  uint64_t low = 0, high = 0;  // the 128-bit counter

  Philox skipped(uint64_t blocks) const {
    const uint64_t next = low + blocks;
    return {key, next, high + (next < low)};
  }
};

struct RandomLoops {
  // Four words for each of `count` blocks, `stride` apart: out (count, 4).
  void (*words)(const Philox& start, uint64_t stride, uint32_t* out, int64_t count);
  // The same for blocks steps[i] behind the start.
  void (*words_at)(const Philox& start, const uint64_t* steps, uint32_t* out, int64_t count);
  // 23 bits of each word as a number in [0, 1).
  void (*uniform)(const uint32_t* words, float* out, int64_t n);
  // Box and Muller: each pair of words becomes a pair of normal numbers; n is even.
  void (*normal)(const uint32_t* words, float* out, int64_t n);
  // The same from four words a pair; n is even, words (2 n).
  void (*normal_double)(const uint32_t* words, double* out, int64_t n);
};

}  // namespace rw
