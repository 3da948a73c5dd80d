// Where, searches in sorted rows, partitions and stitches.
#include <algorithm>

#include "rewind/base/dispatch.h"
#include "rewind/device/parallel.h"
#include "rewind/kernel/cpu/indexing.h"

namespace rw {
namespace {

void where(KernelContext& ctx) {
  const View& x = ctx.in(0);
  const int rank = x.rank();
  const bool ok =
      dispatch < kRealTypes |
      set_of(DType::kBool) > (x.dtype, [&]<class T>() {
        const T* value = x.as<T>();
        const auto is_set = [value](int64_t i) { return static_cast<Compute<T>>(value[i]) != Compute<T>(0); };
        int64_t count = 0;
        for (int64_t i = 0; i < x.size; ++i) count += is_set(i);
        int64_t* out = ctx.allocate_output(0, {count, rank}).as<int64_t>();
        if (count == 0) return;
        if (rank == 1) {
          for (int64_t i = 0; i < x.size; ++i)
            if (is_set(i)) *out++ = i;
          return;
        }
        for (int64_t i = 0; i < x.size; ++i) {
          if (!is_set(i)) continue;
          int64_t rest = i;
          for (int d = rank - 1; d >= 0; --d) {
            out[d] = rest % x.dim(d);
            rest /= x.dim(d);
          }
          out += rank;
        }
      });
  if (!ok) ctx.fail_dtype(x.dtype);
}

template <class T, class Less>
void bounds(KernelContext& ctx, Less goes_right) {
  const View& sorted = ctx.in(0);
  const View& values = ctx.in(1);
  const View& out = ctx.out(0);
  const int64_t n = sorted.dim(1);
  const int64_t m = values.dim(1);
  parallel_for(values.size, 2048, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* row = sorted.as<T>() + i / m * n;
      const Compute<T> v = static_cast<Compute<T>>(values.as<T>()[i]);
      int64_t low = 0;
      for (int64_t length = n; length > 0;) {
        const int64_t half = length / 2;
        if (goes_right(static_cast<Compute<T>>(row[low + half]), v)) {
          low += half + 1;
          length -= half + 1;
        } else {
          length = half;
        }
      }
      if (out.dtype == DType::kInt32) out.as<int32_t>()[i] = int32_t(low);
      else out.as<int64_t>()[i] = low;
    }
  });
}

template <bool kUpper>
void search(KernelContext& ctx) {
  const DType dtype = ctx.in(0).dtype;
  if (ctx.out(0).dtype == DType::kInt32 && ctx.in(0).dim(1) > INT32_MAX)
    ctx.fail("positions do not fit int32; ask for out_type int64");
  const bool ok = dispatch<kRealTypes>(dtype, [&]<class T>() {
    if constexpr (kUpper) bounds<T>(ctx, [](auto x, auto v) { return !(v < x); });
    else bounds<T>(ctx, [](auto x, auto v) { return x < v; });
  });
  if (!ok) ctx.fail_dtype(dtype);
}

void dynamic_partition(KernelContext& ctx) {
  const View& data = ctx.in(0);
  const View& partitions = ctx.in(1);
  const int n = ctx.num_outputs();
  const int64_t* part = checked_indices(ctx, 1, n);
  int64_t* next = ctx.scratch<int64_t>(size_t(n));
  std::fill_n(next, n, 0);
  for (int64_t k = 0; k < partitions.size; ++k) ++next[part[k]];
  int64_t row = 1;
  for (int d = partitions.rank(); d < data.rank(); ++d) row *= data.dim(d);
  for (int p = 0; p < n; ++p) {
    Shape shape{next[p]};
    for (int d = partitions.rank(); d < data.rank(); ++d) shape.append(data.dim(d));
    ctx.allocate_output(p, std::move(shape));
    next[p] = 0;
  }
  if (data.size == 0) return;
  dispatch_copy(data.dtype, [&]<class U>() {
    for (int64_t k = 0; k < partitions.size; ++k)
      std::copy_n(data.as<U>() + k * row, row, ctx.out(int(part[k])).as<U>() + next[part[k]]++ * row);
  });
}

// Later pieces win; rows that no index names are zero.
void dynamic_stitch(KernelContext& ctx) {
  const int n = ctx.num_inputs() / 2;
  int64_t rows = 0;
  for (int i = 0; i < n; ++i) {
    const View& indices = ctx.in(i);
    for (int64_t k = 0; k < indices.size; ++k) {
      const int32_t at = indices.as<int32_t>()[k];
      if (at < 0)
        ctx.fail("indices must not be negative: number " + std::to_string(k) + " of indices[" +
                 std::to_string(i) + "] is " + std::to_string(at));
      rows = std::max<int64_t>(rows, int64_t(at) + 1);
    }
  }
  const View& first = ctx.in(n);
  Shape shape{rows};
  int64_t row = 1;
  for (int d = ctx.in(0).rank(); d < first.rank(); ++d) {
    shape.append(first.dim(d));
    row *= first.dim(d);
  }
  const View out = ctx.allocate_output(0, std::move(shape));
  if (out.size == 0) return;
  dispatch_copy(out.dtype, [&]<class U>() {
    std::fill_n(out.as<U>(), out.size, U{});
    for (int i = 0; i < n; ++i) {
      const int32_t* at = ctx.in(i).as<int32_t>();
      for (int64_t k = 0; k < ctx.in(i).size; ++k)
        std::copy_n(ctx.in(n + i).as<U>() + k * row, row, out.as<U>() + at[k] * row);
    }
  });
}

}  // namespace

void register_selection_cpu_kernels() {
  register_kernel("Where", DeviceType::kCpu, where);
  register_kernel("LowerBound", DeviceType::kCpu, search<false>);
  register_kernel("UpperBound", DeviceType::kCpu, search<true>);
  register_kernel("DynamicPartition", DeviceType::kCpu, dynamic_partition);
  register_kernel("DynamicStitch", DeviceType::kCpu, dynamic_stitch);
  register_kernel("ParallelDynamicStitch", DeviceType::kCpu, dynamic_stitch);
}

}  // namespace rw
