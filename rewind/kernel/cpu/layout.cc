// Kernels of transposes, broadcasts and shape queries.
#include <limits>

#include "rewind/kernel/cpu/shape_kernels.h"

namespace rw {
namespace {

void transpose(KernelContext& ctx) {
  const View &x = ctx.in(0), &y = ctx.out(0);
  const IntVector perm = host_ints(ctx.in(1)), from = dense_strides(*x.shape), to = dense_strides(*y.shape);
  CopyAxes axes;
  for (size_t k = 0; k < perm.size(); ++k) {
    const int64_t p = perm[k] < 0 ? perm[k] + x.rank() : perm[k];
    axes.push_back({y.dim(int(k)), to[k], from[size_t(p)]});
  }
  strided_copy(x.dtype, y.data, x.data, std::move(axes));
}

void broadcast_to(KernelContext& ctx) {
  const View &x = ctx.in(0), &y = ctx.out(0);
  const IntVector from = dense_strides(*x.shape), to = dense_strides(*y.shape);
  const int extra = y.rank() - x.rank();
  CopyAxes axes;
  for (int k = 0; k < y.rank(); ++k) {
    const bool own = k >= extra && x.dim(k - extra) != 1;
    axes.push_back({y.dim(k), to[size_t(k)], own ? from[size_t(k - extra)] : 0});
  }
  strided_copy(x.dtype, y.data, x.data, std::move(axes));
}

void put(KernelContext& ctx, const View& out, int64_t i, int64_t value) {
  if (out.dtype == DType::kInt64) {
    out.as<int64_t>()[i] = value;
    return;
  }
  if (value > std::numeric_limits<int32_t>::max())
    ctx.fail("the size must fit int32: got " + std::to_string(value) + "; ask for int64 with out_type");
  out.as<int32_t>()[i] = int32_t(value);
}

void shape(KernelContext& ctx) {
  for (int i = 0; i < ctx.num_outputs(); ++i)
    for (int k = 0; k < ctx.in(i).rank(); ++k) put(ctx, ctx.out(i), k, ctx.in(i).dim(k));
}
void size(KernelContext& ctx) { put(ctx, ctx.out(0), 0, ctx.in(0).size); }
void rank(KernelContext& ctx) { put(ctx, ctx.out(0), 0, ctx.in(0).rank()); }

void invert_permutation(KernelContext& ctx) {
  const IntVector x = host_ints(ctx.in(0));
  SmallVector<bool, 16> seen(x.size(), false);
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] < 0 || x[i] >= int64_t(x.size()))
      ctx.fail("values must lie in [0, " + std::to_string(x.size()) + "): got " + std::to_string(x[i]));
    if (seen[size_t(x[i])])
      ctx.fail("values must be a permutation: " + std::to_string(x[i]) + " comes twice");
    seen[size_t(x[i])] = true;
    put(ctx, ctx.out(0), x[i], int64_t(i));
  }
}

// Size k of a shape that is brought to `rank` axes by ones in front.
int64_t padded_dim(const IntVector& dims, size_t rank, size_t k) {
  const size_t extra = rank - dims.size();
  return k < extra ? 1 : dims[k - extra];
}

void broadcast_args(KernelContext& ctx) {
  const IntVector a = host_ints(ctx.in(0)), b = host_ints(ctx.in(1));
  const size_t rank = std::max(a.size(), b.size());
  for (size_t k = 0; k < rank; ++k) {
    const int64_t x = padded_dim(a, rank, k), y = padded_dim(b, rank, k);
    if (x != y && x != 1 && y != 1)
      ctx.fail("shapes must broadcast together: axis " + std::to_string(k) + " has sizes " +
               std::to_string(x) + " and " + std::to_string(y));
    put(ctx, ctx.out(0), int64_t(k), x == 1 ? y : x);
  }
}

// Axes along which each side was broadcast.
void broadcast_gradient_args(KernelContext& ctx) {
  const IntVector a = host_ints(ctx.in(0)), b = host_ints(ctx.in(1));
  const size_t rank = std::max(a.size(), b.size());
  IntVector axes[2];
  for (size_t k = 0; k < rank; ++k) {
    const int64_t x = padded_dim(a, rank, k), y = padded_dim(b, rank, k);
    if (x != y && x != 1 && y != 1)
      ctx.fail("shapes must broadcast together: axis " + std::to_string(k) + " has sizes " +
               std::to_string(x) + " and " + std::to_string(y));
    if (x == 1) axes[0].push_back(int64_t(k));
    if (y == 1) axes[1].push_back(int64_t(k));
  }
  for (int i : {0, 1}) {
    if (a == b) axes[i].clear();
    const View& out = ctx.allocate_output(i, Shape{int64_t(axes[i].size())});
    for (size_t k = 0; k < axes[i].size(); ++k) put(ctx, out, int64_t(k), axes[i][k]);
  }
}

}  // namespace

void register_layout_kernels() {
  register_kernel("Transpose", DeviceType::kCpu, transpose);
  register_kernel("BroadcastTo", DeviceType::kCpu, broadcast_to);
  register_kernel("Shape", DeviceType::kCpu, shape);
  register_kernel("ShapeN", DeviceType::kCpu, shape);
  register_kernel("Size", DeviceType::kCpu, size);
  register_kernel("Rank", DeviceType::kCpu, rank);
  register_kernel("InvertPermutation", DeviceType::kCpu, invert_permutation);
  register_kernel("BroadcastArgs", DeviceType::kCpu, broadcast_args);
  register_kernel("BroadcastGradientArgs", DeviceType::kCpu, broadcast_gradient_args);
}

}  // namespace rw
