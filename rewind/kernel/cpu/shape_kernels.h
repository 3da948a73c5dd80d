// The parts of the shape family's kernels, and what they share.
#pragma once

#include "rewind/kernel/cpu/strided_copy.h"
#include "rewind/kernel/kernel.h"

namespace rw {

void register_layout_kernels();
void register_slice_kernels();
void register_join_kernels();
void register_pad_kernels();
void register_mirror_kernels();
void register_block_kernels();

// Integers of a host input, flattened.
IntVector host_ints(const View& view);
// Elements between neighbours along each axis of a dense tensor.
IntVector dense_strides(const Shape& shape);
// Sizes in front of, at and behind an axis.
struct AroundAxis {
  int64_t outer = 1, size = 1, inner = 1;
};
AroundAxis around_axis(const Shape& shape, int axis);

}  // namespace rw
