// Kernels that read rows by index, on plain tensors and on variables.
#pragma once

#include "rewind/kernel/kernel.h"

namespace rw {

// out = rows of `params` along `axis` at input `indices_at`'s indices; the first batch_dims axes of both go
// together. Makes output 0 where the shape rule left it open.
void gather_along(KernelContext& ctx, const View& params, int indices_at, int64_t axis, int64_t batch_dims);
// out = slices of `params` at the index tuples of input 1.
void gather_slices(KernelContext& ctx, const View& params);

}  // namespace rw
