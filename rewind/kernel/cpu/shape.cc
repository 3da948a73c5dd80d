// Kernels of the shape family: see layout.cc, slice.cc, join.cc, pad.cc, mirror_pad.cc and block.cc.
#include "rewind/kernel/cpu/shape_kernels.h"

namespace rw {

IntVector host_ints(const View& view) {
  IntVector values(size_t(view.size), 0);
  for (int64_t i = 0; i < view.size; ++i) {
    switch (view.dtype) {
      case DType::kInt64: values[size_t(i)] = view.as<int64_t>()[i]; break;
      case DType::kInt16: values[size_t(i)] = view.as<int16_t>()[i]; break;
      case DType::kInt8: values[size_t(i)] = view.as<int8_t>()[i]; break;
      case DType::kBool: values[size_t(i)] = view.as<bool>()[i]; break;
      default: values[size_t(i)] = view.as<int32_t>()[i];
    }
  }
  return values;
}

IntVector dense_strides(const Shape& shape) {
  IntVector strides(size_t(shape.rank()), 1);
  for (int k = shape.rank() - 2; k >= 0; --k) strides[size_t(k)] = strides[size_t(k) + 1] * shape[k + 1];
  return strides;
}

AroundAxis around_axis(const Shape& shape, int axis) {
  AroundAxis a;
  for (int k = 0; k < axis; ++k) a.outer *= shape[k];
  a.size = shape[axis];
  for (int k = axis + 1; k < shape.rank(); ++k) a.inner *= shape[k];
  return a;
}

void register_shape_cpu_kernels() {
  register_layout_kernels();
  register_slice_kernels();
  register_join_kernels();
  register_pad_kernels();
  register_mirror_kernels();
  register_block_kernels();
}

}  // namespace rw
