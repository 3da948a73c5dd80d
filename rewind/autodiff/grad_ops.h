// The few ops that the tape itself applies, by their rows: sums of gradients, reductions of broadcasts,
// seeds.
#pragma once

#include <span>

#include "rewind/tensor/tensor.h"

namespace rw {

Tensor add_tensors(const Tensor& a, const Tensor& b);
Tensor reduce_sum_axes(const Tensor& t, std::span<const int64_t> axes);  // dropping the axes
Tensor reshape_to(const Tensor& t, const Shape& shape);
Tensor filled(DType dtype, const Shape& shape, double value);
Tensor ones_of(const Tensor& t);  // ones of its shape and dtype, also for a traced or batched tensor
Tensor zeros_of(const Tensor& t);
Tensor concat_rows(const Tensor& a, const Tensor& b);
Tensor scatter_rows(const Tensor& values, const Tensor& indices, const Tensor& dense_shape);

}  // namespace rw
