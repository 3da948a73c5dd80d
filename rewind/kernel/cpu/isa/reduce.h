// Loops of the reductions. Accumulators are float for the 16-bit floats, 64-bit for the integers of
// "WideSum", the element's type otherwise.
#pragma once

#include <cstdint>

#include "rewind/base/dtype.h"

namespace rw {

// out[i] = reduction of x[i * stride ... + n), for i < count.
using ReduceRowLoop = void (*)(const void* x, int64_t stride, int64_t n, int64_t count, void* out);
// out[c] = reduction of x[r * row_stride + c] over r < rows, rows >= 1.
using ReduceColumnLoop = void (*)(const void* x, int64_t row_stride, int64_t rows, int64_t columns,
                                  void* out);

struct ReduceRow {
  const char* op;
  DType in;
  ReduceRowLoop rows;
  ReduceColumnLoop columns;
};

}  // namespace rw
