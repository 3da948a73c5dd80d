// Kernels of slices: boxes with steps.
#include "rewind/kernel/cpu/shape_kernels.h"
#include "rewind/op/strided_slice.h"

namespace rw {
namespace {

void slice(KernelContext& ctx) {
  const View &x = ctx.in(0), &y = ctx.out(0);
  const IntVector begin = host_ints(ctx.in(1)), from = dense_strides(*x.shape), to = dense_strides(*y.shape);
  CopyAxes axes;
  int64_t offset = 0;
  for (int k = 0; k < x.rank(); ++k) {
    offset += begin[size_t(k)] * from[size_t(k)];
    axes.push_back({y.dim(k), to[size_t(k)], from[size_t(k)]});
  }
  if (y.size > 0) strided_copy(x.dtype, y.data, element(x.dtype, x.data, offset), std::move(axes));
}

// Inputs first, first + 1, first + 2 hold begin, end and strides.
SlicePlan plan_of(KernelContext& ctx, const Shape& shape, int first) {
  return plan_slice(ctx.op().tag, shape, host_ints(ctx.in(first)), host_ints(ctx.in(first + 1)),
                    host_ints(ctx.in(first + 2)), slice_masks(ctx.op(), ctx.attrs()));
}

// The plan's elements of `whole` (of shape `shape`) beside a dense tensor of them.
void copy_slice(DType dtype, const SlicePlan& plan, const Shape& shape, void* whole, void* part, bool into_whole) {
  const IntVector strides = dense_strides(shape);
  CopyAxes axes;
  int64_t offset = 0, dense = 1;
  for (int k = shape.rank() - 1; k >= 0; --k) {
    const size_t i = size_t(k);
    offset += plan.begin[i] * strides[i];
    const int64_t step = plan.step[i] * strides[i];
    axes.push_back(into_whole ? CopyAxis{plan.count[i], step, dense} : CopyAxis{plan.count[i], dense, step});
    dense *= plan.count[i];
  }
  if (dense == 0) return;
  char* at = element(dtype, whole, offset);
  if (into_whole) strided_copy(dtype, at, part, std::move(axes));
  else strided_copy(dtype, part, at, std::move(axes));
}

void strided_slice(KernelContext& ctx) {
  const View& x = ctx.in(0);
  copy_slice(x.dtype, plan_of(ctx, *x.shape, 1), *x.shape, x.data, ctx.out(0).data, false);
}

void strided_slice_grad(KernelContext& ctx) {
  const View &dy = ctx.in(4), &out = ctx.out(0);
  zero_elements(out.dtype, out.data, out.size);
  copy_slice(out.dtype, plan_of(ctx, *out.shape, 1), *out.shape, out.data, dy.data, true);
}

void strided_slice_update(KernelContext& ctx) {
  const View &x = ctx.in(0), &out = ctx.out(0);
  strided_copy(x.dtype, out.data, x.data, {{x.size, 1, 1}});
  copy_slice(out.dtype, plan_of(ctx, *out.shape, 1), *out.shape, out.data, ctx.in(4).data, true);
}

void strided_slice_assign(KernelContext& ctx) {
  const View variable = ctx.variable(0);
  const View& value = ctx.in(4);
  if (variable.dtype != value.dtype)
    ctx.fail("the value must have the variable's dtype " + std::string(name_of(variable.dtype)) + ": got " + value.describe());
  const SlicePlan plan = plan_of(ctx, *variable.shape, 1);
  if (!(plan.shape == *value.shape))
    ctx.fail("the value must have the slice's shape " + plan.shape.to_string() + ": got " + value.describe());
  copy_slice(value.dtype, plan, *variable.shape, variable.data, value.data, true);
}

}  // namespace

void register_slice_kernels() {
  register_kernel("Slice", DeviceType::kCpu, slice);
  register_kernel("StridedSlice", DeviceType::kCpu, strided_slice);
  register_kernel("StridedSliceGrad", DeviceType::kCpu, strided_slice_grad);
  register_kernel("TensorStridedSliceUpdate", DeviceType::kCpu, strided_slice_update);
  register_kernel("ResourceStridedSliceAssign", DeviceType::kCpu, strided_slice_assign);
}

}  // namespace rw
