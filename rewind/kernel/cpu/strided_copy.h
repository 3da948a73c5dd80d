// The one data movement: elements of a box go from one strided place to another. Transposes, slices,
// reversals, broadcasts, tiles, joins and pads are all calls of it.
#pragma once

#include <cstdint>

#include "rewind/base/dtype.h"
#include "rewind/base/small_vector.h"

namespace rw {

// One axis of the box; steps are in elements and may be negative. A step of 0 in `from` repeats.
struct CopyAxis {
  int64_t size;
  int64_t to;
  int64_t from;
};
using CopyAxes = SmallVector<CopyAxis, 8>;

// Copies every element of the box, on several threads when it is big. No two elements of the box may have one
// place in `to`; `to` and `from` must not overlap. Axes may come in any order.
void strided_copy(DType dtype, void* to, const void* from, CopyAxes axes);

// count equal elements.
void fill_elements(DType dtype, void* to, const void* value, int64_t count);
// count elements that read as zero, false or the empty string; objects become none.
void zero_elements(DType dtype, void* to, int64_t count);

// Address of element i.
inline char* element(DType dtype, void* data, int64_t i) {
  return static_cast<char*>(data) + i * int64_t(size_of(dtype));
}
inline const char* element(DType dtype, const void* data, int64_t i) {
  return static_cast<const char*>(data) + i * int64_t(size_of(dtype));
}

}  // namespace rw
