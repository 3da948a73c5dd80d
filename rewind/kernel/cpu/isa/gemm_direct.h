// Float products whose right factor fits the caches: both factors are read where they lie, a strip of a few
// rows of the result at a time. Each element is one chain of multiply-adds along the inner axis.
#pragma once

#include <cstdint>

namespace rw {

struct DirectStrip {
  const float* a;  // element (i, p) at a[i * lda + p], or at a[p * lda + i] where a_transposed
  int64_t lda;
  bool a_transposed;
  const float* b;  // (depth, n)
  int64_t ldb;
  float* c;  // (rows, n)
  int64_t ldc;
  int64_t n, depth;  // n: at least a vector
  int rows;
  // What the next strip will read of a, which is fetched along with the first columns: a line at each depth.
  const float* ahead = nullptr;
  int64_t ahead_step = 0;
};

struct DirectLoops {
  int (*most_rows)(int64_t n);  // of a strip
  void (*strip)(const DirectStrip& strip);
};

const DirectLoops& direct_loops();  // of the instruction set that isa_loops() has

}  // namespace rw
