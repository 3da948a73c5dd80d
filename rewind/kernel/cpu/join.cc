// Kernels of concat, stack, split and unstack: every part is a column of runs in the whole.
#include "rewind/kernel/cpu/shape_kernels.h"

namespace rw {
namespace {

// Part of `size` places along the axis, from place `at` on.
struct Part {
  int64_t at, size;
};

void join(DType dtype, const AroundAxis& a, const Part& part, void* whole, const void* from) {
  strided_copy(dtype, element(dtype, whole, part.at * a.inner), from,
               {{a.outer, a.size * a.inner, part.size * a.inner}, {part.size * a.inner, 1, 1}});
}
void take(DType dtype, const AroundAxis& a, const Part& part, void* to, const void* whole) {
  strided_copy(dtype, to, element(dtype, whole, part.at * a.inner),
               {{a.outer, part.size * a.inner, a.size * a.inner}, {part.size * a.inner, 1, 1}});
}

int axis_of(int64_t axis, int rank) { return int(axis < 0 ? axis + rank : axis); }

void concat(KernelContext& ctx, int first, int count, int axis_input) {
  const View& out = ctx.out(0);
  const int axis = axis_of(host_ints(ctx.in(axis_input))[0], out.rank());
  const AroundAxis a = around_axis(*out.shape, axis);
  int64_t at = 0;
  for (int i = first; i < first + count; ++i) {
    const View& x = ctx.in(i);
    if (x.size > 0) join(x.dtype, a, {at, x.dim(axis)}, out.data, x.data);
    at += x.dim(axis);
  }
}
void concat_v2(KernelContext& ctx) { concat(ctx, 0, ctx.num_inputs() - 1, ctx.num_inputs() - 1); }
void concat_v1(KernelContext& ctx) { concat(ctx, 1, ctx.num_inputs() - 1, 0); }

void concat_offset(KernelContext& ctx) {
  const int64_t rank = ctx.in(1).size;
  const int64_t said = host_ints(ctx.in(0))[0];
  if (said < -rank || said >= rank)
    ctx.fail("concat_dim must be in [" + std::to_string(-rank) + ", " + std::to_string(rank) + "): got " +
             std::to_string(said));
  const size_t axis = size_t(axis_of(said, int(rank)));
  const IntVector first = host_ints(ctx.in(1));
  int64_t at = 0;
  for (int i = 1; i < ctx.num_inputs(); ++i) {
    const IntVector dims = host_ints(ctx.in(i));
    if (int64_t(dims.size()) != rank)
      ctx.fail("shapes must have one rank: got " + std::to_string(rank) + " and " +
               std::to_string(dims.size()));
    for (size_t k = 0; k < dims.size(); ++k) {
      if (k != axis && dims[k] != first[k])
        ctx.fail("sizes beside the axis must match: axis " + std::to_string(k) + " has " +
                 std::to_string(first[k]) + " and " + std::to_string(dims[k]));
      const int64_t value = k == axis ? at : 0;
      const View& out = ctx.out(i - 1);
      if (out.dtype == DType::kInt64) out.as<int64_t>()[k] = value;
      else out.as<int32_t>()[k] = int32_t(value);
    }
    at += dims[axis];
  }
}

void pack(KernelContext& ctx) {
  const View& out = ctx.out(0);
  const AroundAxis a = around_axis(*out.shape, axis_of(ctx.attr<int64_t>("axis"), out.rank()));
  if (out.size == 0) return;
  for (int i = 0; i < ctx.num_inputs(); ++i) join(out.dtype, a, {i, 1}, out.data, ctx.in(i).data);
}

void unpack(KernelContext& ctx) {
  const View& x = ctx.in(0);
  if (x.size == 0) return;
  const AroundAxis a = around_axis(*x.shape, axis_of(ctx.attr<int64_t>("axis"), x.rank()));
  for (int i = 0; i < ctx.num_outputs(); ++i) take(x.dtype, a, {i, 1}, ctx.out(i).data, x.data);
}

void take_parts(KernelContext& ctx, const View& x, int axis) {
  const AroundAxis a = around_axis(*x.shape, axis);
  int64_t at = 0;
  for (int i = 0; i < ctx.num_outputs(); ++i) {
    const View& out = ctx.out(i);
    if (out.size > 0) take(x.dtype, a, {at, out.dim(axis)}, out.data, x.data);
    at += out.dim(axis);
  }
}
void split(KernelContext& ctx) {
  take_parts(ctx, ctx.in(1), axis_of(host_ints(ctx.in(0))[0], ctx.in(1).rank()));
}
void split_v(KernelContext& ctx) {
  take_parts(ctx, ctx.in(0), axis_of(host_ints(ctx.in(2))[0], ctx.in(0).rank()));
}

}  // namespace

void register_join_kernels() {
  register_kernel("ConcatV2", DeviceType::kCpu, concat_v2);
  register_kernel("Concat", DeviceType::kCpu, concat_v1);
  register_kernel("ConcatOffset", DeviceType::kCpu, concat_offset);
  register_kernel("Pack", DeviceType::kCpu, pack);
  register_kernel("Unpack", DeviceType::kCpu, unpack);
  register_kernel("Split", DeviceType::kCpu, split);
  register_kernel("SplitV", DeviceType::kCpu, split_v);
}

}  // namespace rw
