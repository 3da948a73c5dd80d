#include "rewind/autodiff/grad_ops.h"

#include "rewind/tensor/apply.h"
#include "rewind/tensor/ops/ints.h"

namespace rw {

Tensor add_tensors(const Tensor& a, const Tensor& b) {
  return apply_one(a.dtype() == DType::kVariant ? RW_OP("AddN") : RW_OP("AddV2"), {&a, &b});
}

Tensor reduce_sum_axes(const Tensor& t, std::span<const int64_t> axes) {
  const Tensor indices = constant(axes.data(), Shape{int64_t(axes.size())});
  return apply_one(RW_OP("Sum"), {&t, &indices});
}

Tensor reshape_to(const Tensor& t, const Shape& shape) {
  return reshape_dims(t, constant(shape.begin(), Shape{shape.rank()}));
}
Tensor reshape_dims(const Tensor& t, const Tensor& dims) { return apply_one(RW_OP("Reshape"), {&t, &dims}); }

Tensor filled(DType dtype, const Shape& shape, double value) {
  return filled_dims(dtype, constant(shape.begin(), Shape{shape.rank()}), value);
}

Tensor filled_dims(DType dtype, const Tensor& dims, double value) {
  Tensor scalar = scalar_tensor(value, is_floating(dtype) ? dtype : DType::kFloat32);
  if (!is_floating(dtype)) scalar = apply_one(RW_OP("Cast"), {&scalar}, {{"DstT", dtype}});
  return apply_one(RW_OP("Fill"), {&dims, &scalar});
}

Tensor shape_as_tensor(const Shape& shape, const Tensor& tensor) {
  return shape.fully_known() ? Ints(shape).tensor() : apply_one(RW_OP("Shape"), {&tensor});
}

Tensor ones_of(const Tensor& t) { return apply_one(RW_OP("OnesLike"), {&t}); }
Tensor zeros_of(const Tensor& t) { return apply_one(RW_OP("ZerosLike"), {&t}); }

Tensor concat_rows(const Tensor& a, const Tensor& b) {
  const Tensor axis = constant(0);
  return apply_one(RW_OP("ConcatV2"), {&a, &b, &axis});
}

Tensor scatter_rows(const Tensor& values, const Tensor& indices, const Tensor& dense_shape) {
  const Tensor rows = dense_shape[0];
  return apply_one(RW_OP("UnsortedSegmentSum"), {&values, &indices, &rows});
}

}  // namespace rw
