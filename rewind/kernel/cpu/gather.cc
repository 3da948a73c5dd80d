#include "rewind/kernel/cpu/gather.h"

#include <algorithm>

#include "rewind/base/dispatch.h"
#include "rewind/device/parallel.h"
#include "rewind/kernel/cpu/indexing.h"

namespace rw {

void register_scatter_cpu_kernels();
void register_segment_cpu_kernels();
void register_ragged_cpu_kernels();
void register_selection_cpu_kernels();
void register_unique_cpu_kernels();
void register_top_k_cpu_kernels();

namespace {

constexpr int64_t kGrainBytes = 1 << 17;

template <class U>
void gather_rows(const U* params, const int64_t* index, U* out, int64_t begin, int64_t end, int64_t inner) {
  if (inner == 1) {
    for (int64_t k = begin; k < end; ++k) out[k] = params[index[k]];
  } else {
    for (int64_t k = begin; k < end; ++k) std::copy_n(params + index[k] * inner, inner, out + k * inner);
  }
}

int64_t grain_of(int64_t row, DType dtype) {
  return std::max<int64_t>(1, kGrainBytes / std::max<int64_t>(1, row * int64_t(size_of(dtype))));
}

void gather_v2(KernelContext& ctx) {
  const int64_t axis = ctx.in(2).dtype == DType::kInt32 ? *ctx.in(2).as<int32_t>() : *ctx.in(2).as<int64_t>();
  gather_along(ctx, ctx.in(0), 1, axis, ctx.attr<int64_t>("batch_dims"));
}

void gather(KernelContext& ctx) { gather_along(ctx, ctx.in(0), 1, 0, 0); }

void gather_nd(KernelContext& ctx) { gather_slices(ctx, ctx.in(0)); }

}  // namespace

void gather_along(KernelContext& ctx, const View& params, int indices_at, int64_t axis, int64_t batch_dims) {
  const View& indices = ctx.in(indices_at);
  if (axis < 0) axis += params.rank();
  if (batch_dims < 0) batch_dims += indices.rank();
  int64_t batch = 1;
  int64_t outer = 1;
  int64_t inner = 1;
  int64_t n = 1;
  for (int d = 0; d < int(batch_dims); ++d) batch *= params.dim(d);
  for (int d = int(batch_dims); d < int(axis); ++d) outer *= params.dim(d);
  for (int d = int(axis) + 1; d < params.rank(); ++d) inner *= params.dim(d);
  for (int d = int(batch_dims); d < indices.rank(); ++d) n *= indices.dim(d);
  const int64_t rows = params.dim(int(axis));
  if (!ctx.out(0).shape->fully_known()) {
    Shape shape;
    for (int d = 0; d < int(axis); ++d) shape.append(params.dim(d));
    for (int d = int(batch_dims); d < indices.rank(); ++d) shape.append(indices.dim(d));
    for (int d = int(axis) + 1; d < params.rank(); ++d) shape.append(params.dim(d));
    ctx.allocate_output(0, std::move(shape));
  }
  const View& out = ctx.out(0);
  if (out.size == 0) return;
  const int64_t* index = checked_indices(ctx, indices_at, rows);
  dispatch_copy(out.dtype, [&]<class U>() {
    const U* from = params.as<U>();
    U* to = out.as<U>();
    const int64_t matrices = batch * outer;
    if (matrices == 1) {
      return parallel_for(n, grain_of(inner, out.dtype), [&](int64_t begin, int64_t end) {
        gather_rows(from, index, to, begin, end, inner);
      });
    }
    parallel_for(matrices, grain_of(n * inner, out.dtype), [&](int64_t begin, int64_t end) {
      for (int64_t m = begin; m < end; ++m)
        gather_rows(from + m * rows * inner, index + m / outer * n, to + m * n * inner, 0, n, inner);
    });
  });
}

void gather_slices(KernelContext& ctx, const View& params) {
  const SliceNumbers s = slice_numbers(ctx, 1, *params.shape);
  const View& indices = ctx.in(1);
  if (!ctx.out(0).shape->fully_known()) {
    Shape shape;
    for (int d = 0; d + 1 < indices.rank(); ++d) shape.append(indices.dim(d));
    for (int d = int(indices.shape->back()); d < params.rank(); ++d) shape.append(params.dim(d));
    ctx.allocate_output(0, std::move(shape));
  }
  const View& out = ctx.out(0);
  if (out.size == 0) return;
  dispatch_copy(out.dtype, [&]<class U>() {
    const U* from = params.as<U>();
    U* to = out.as<U>();
    parallel_for(s.count, grain_of(s.slice, out.dtype), [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        if (s.numbers[k] < 0) std::fill_n(to + k * s.slice, s.slice, U{});
        else std::copy_n(from + s.numbers[k] * s.slice, s.slice, to + k * s.slice);
      }
    });
  });
}

void register_gather_cpu_kernels() {
  register_kernel("Gather", DeviceType::kCpu, gather);
  register_kernel("GatherV2", DeviceType::kCpu, gather_v2);
  register_kernel("GatherNd", DeviceType::kCpu, gather_nd);
  register_scatter_cpu_kernels();
  register_segment_cpu_kernels();
  register_ragged_cpu_kernels();
  register_selection_cpu_kernels();
  register_unique_cpu_kernels();
  register_top_k_cpu_kernels();
}

}  // namespace rw
