// Loops of ArgMax and ArgMin: the first place of the extreme, which NaN never is.
#pragma once

#include <cstdint>

#include "rewind/base/dtype.h"

namespace rw {

struct ArgExtremeLoops {
  DType in;
  bool max;
  // place[i] = that of x[i * n, ... + n), for i < count; value[i] (of the type in) is the extreme there, or
  // what loses against anything if no element wins.
  void (*rows)(const void* x, int64_t n, int64_t count, void* value, int64_t* place);
  // place[c] = that of x[r * stride + c] over r < n, for c < count, n < 2^31.
  void (*columns)(const void* x, int64_t stride, int64_t n, int64_t count, void* value, int64_t* place);
};

// Of the instruction set that isa_loops() has; ends with in == kInvalid.
const ArgExtremeLoops* arg_extreme_loops();

}  // namespace rw
