// The few ops that the tape itself applies, by their rows: sums of gradients, reductions of broadcasts,
// seeds.
#pragma once

#include <span>

#include "rewind/tensor/tensor.h"

namespace rw {

Tensor add_tensors(const Tensor& a, const Tensor& b);                    // numbers, or lists of them
Tensor reduce_sum_axes(const Tensor& t, std::span<const int64_t> axes);  // dropping the axes
Tensor reshape_to(const Tensor& t, const Shape& shape);
Tensor reshape_dims(const Tensor& t, const Tensor& dims);  // the same with a tensor of sizes
Tensor filled(DType dtype, const Shape& shape, double value);
Tensor filled_dims(DType dtype, const Tensor& dims, double value);
// A constant when the shape is known, else a Shape op on `tensor`, which has it.
Tensor shape_as_tensor(const Shape& shape, const Tensor& tensor);
Tensor ones_of(const Tensor& t);  // ones of its shape and dtype, also for a traced or batched tensor
Tensor zeros_of(const Tensor& t);
Tensor concat_rows(const Tensor& a, const Tensor& b);
Tensor scatter_rows(const Tensor& values, const Tensor& indices, const Tensor& dense_shape);

}  // namespace rw
