// Copies between strided arrays of equal shape.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rewind/base/small_vector.h"

namespace rw {

using Strides = SmallVector<int64_t, 6>;

// to[sum i_d * to_strides[d]] = from[sum i_d * from_strides[d]] for all indices below `dims`. Strides are in
// elements of element_bytes, which is 1, 2, 4 or 8. Destinations must not overlap.
void copy_strided(size_t element_bytes, const Strides& dims, const void* from, const Strides& from_strides,
                  void* to, const Strides& to_strides);

// Row-major strides of a dense array.
Strides dense_strides(const Strides& dims);

}  // namespace rw
