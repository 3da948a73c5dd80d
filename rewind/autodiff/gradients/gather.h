// The dense gradient of a read by index, which tensors and variables share.
#pragma once

#include "rewind/tensor/sizes.h"

namespace rw {

// What a read along an axis sees of params and indices: (batch, outer, rows, inner) and (batch, n).
struct GatherSizes {
  Size batch = 1, outer = 1, rows = 1, inner = 1, n = 1;
};
GatherSizes known_gather(const Sizes& params, const Sizes& indices, size_t axis, size_t batch_dims);
// The same from shapes as tensors, when only the run knows ranks or axis. Negative numbers count from the
// end.
GatherSizes asked_gather(const Tensor& params, const Tensor& indices, const Tensor& axis, int64_t batch_dims);

// The gradient of params[..., indices, ...] as (batch, outer, rows, inner): the rows are brought to the front
// within each batch and summed by number.
Tensor dense_gather_grad(const Tensor& grad, const Tensor& indices, const GatherSizes& sizes);

}  // namespace rw
