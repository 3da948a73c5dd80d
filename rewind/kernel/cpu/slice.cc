// Kernels of slices: boxes with steps.
#include <utility>

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
                    host_ints(ctx.in(first + 2)), slice_masks(ctx.attrs()));
}

// The plan's elements of `whole`, as a box; `part` is stepped through by `part_steps`, one step per axis of
// the whole.
CopyAxes slice_axes(const SlicePlan& plan, const Shape& whole, const IntVector& part_steps, int64_t* offset) {
  const IntVector strides = dense_strides(whole);
  CopyAxes axes;
  *offset = 0;
  for (size_t k = 0; k < strides.size(); ++k) {
    *offset += plan.begin[k] * strides[k];
    axes.push_back({plan.count[k], part_steps[k], plan.step[k] * strides[k]});
  }
  return axes;
}

// Writes `value`, broadcast to the slice's shape, into the slice.
void write_slice(const SlicePlan& plan, const View& whole, const View& value) {
  const IntVector strides = dense_strides(*value.shape);
  const int extra = plan.shape.rank() - value.rank();
  IntVector steps(size_t(whole.rank()), 0);
  for (int k = 0; k < whole.rank(); ++k) {
    const int64_t at = plan.result_axis[size_t(k)] - extra;
    if (plan.result_axis[size_t(k)] >= 0 && at >= 0 && value.dim(int(at)) != 1)
      steps[size_t(k)] = strides[size_t(at)];
  }
  int64_t offset = 0;
  CopyAxes axes = slice_axes(plan, *whole.shape, steps, &offset);
  for (CopyAxis& a : axes) {
    std::swap(a.to, a.from);
    if (a.size == 0) return;
  }
  strided_copy(whole.dtype, element(whole.dtype, whole.data, offset), value.data, std::move(axes));
}

void strided_slice(KernelContext& ctx) {
  const View &x = ctx.in(0), &y = ctx.out(0);
  if (y.size == 0) return;
  const SlicePlan plan = plan_of(ctx, *x.shape, 1);
  IntVector steps(plan.count.size(), 1);
  for (size_t k = steps.size(); k-- > 1;) steps[k - 1] = steps[k] * plan.count[k];
  int64_t offset = 0;
  CopyAxes axes = slice_axes(plan, *x.shape, steps, &offset);
  strided_copy(x.dtype, y.data, element(x.dtype, x.data, offset), std::move(axes));
}

void strided_slice_grad(KernelContext& ctx) {
  const View& out = ctx.out(0);
  zero_elements(out.dtype, out.data, out.size);
  write_slice(plan_of(ctx, *out.shape, 1), out, ctx.in(4));
}

void strided_slice_update(KernelContext& ctx) {
  const View &x = ctx.in(0), &out = ctx.out(0);
  strided_copy(x.dtype, out.data, x.data, {{x.size, 1, 1}});
  write_slice(plan_of(ctx, *out.shape, 1), out, ctx.in(4));
}

void strided_slice_assign(KernelContext& ctx) {
  const View variable = ctx.variable(0);
  const View& value = ctx.in(4);
  if (variable.dtype != value.dtype)
    ctx.fail("the value must have the variable's dtype " + std::string(name_of(variable.dtype)) + ": got " +
             value.describe());
  const SlicePlan plan = plan_of(ctx, *variable.shape, 1);
  if (!broadcasts_into(*value.shape, plan.shape))
    ctx.fail("the value must broadcast to the slice's shape " + plan.shape.to_string() + ": got " +
             value.describe());
  write_slice(plan, variable, value);
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
