#include "rewind/kernel/cpu/indexing.h"

#include <algorithm>

#include "rewind/base/dispatch.h"
#include "rewind/device/parallel.h"

namespace rw {
namespace {

constexpr DTypeSet kIndexTypes =
    set_of(DType::kInt16, DType::kInt32, DType::kInt64, DType::kUint16, DType::kUint8, DType::kInt8);
constexpr int64_t kGrain = 32768;

// Position of the first index outside [0, limit), or -1. Threads look for their own first; the least wins.
int64_t first_outside(const int64_t* index, int64_t n, int64_t limit) {
  bool bad = false;
  for (int64_t k = 0; k < n; ++k) bad |= uint64_t(index[k]) >= uint64_t(limit);
  if (!bad) return -1;
  for (int64_t k = 0; k < n; ++k)
    if (uint64_t(index[k]) >= uint64_t(limit)) return k;
  return -1;
}

const std::string& name_of_input(const KernelContext& ctx, int i) {
  return ctx.op().inputs[std::min(size_t(i), ctx.op().inputs.size() - 1)].name;
}

bool ignores_bad_indices(const KernelContext& ctx) {
  if (!ctx.op().find_attr("bad_indices_policy")) return false;
  const std::string policy = ctx.attr<std::string>("bad_indices_policy");
  if (policy == "IGNORE") return true;
  if (!policy.empty() && policy != "DEFAULT" && policy != "ERROR")
    ctx.fail("bad_indices_policy must be DEFAULT, ERROR or IGNORE: got " + policy);
  return false;
}

}  // namespace

const int64_t* widened(KernelContext& ctx, const View& indices) {
  if (indices.dtype == DType::kInt64) return indices.as<int64_t>();
  int64_t* wide = ctx.scratch<int64_t>(size_t(indices.size));
  const bool ok = dispatch<kIndexTypes>(indices.dtype, [&]<class T>() {
    const T* narrow = indices.as<T>();
    parallel_for(indices.size, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) wide[k] = int64_t(narrow[k]);
    });
  });
  if (!ok) ctx.fail_dtype(indices.dtype);
  return wide;
}

const int64_t* checked_indices(KernelContext& ctx, int i, int64_t limit) {
  const View& view = ctx.in(i);
  const int64_t* index = widened(ctx, view);
  const int64_t bad = first_outside(index, view.size, limit);
  if (bad >= 0)
    ctx.fail(place_of(ctx, i, bad) + " = " + std::to_string(index[bad]) + " is not in [0, " +
             std::to_string(limit) + ")");
  return index;
}

std::string place_of(const KernelContext& ctx, int i, int64_t position, int axes) {
  const Shape& shape = *ctx.in(i).shape;
  std::string inner;
  for (int d = (axes < 0 ? shape.rank() : axes) - 1; d >= 0; --d) {
    inner = std::to_string(position % shape[d]) + (inner.empty() ? "" : ", ") + inner;
    position /= shape[d];
  }
  return name_of_input(ctx, i) + (inner.empty() ? "" : "[" + inner + "]");
}

SliceNumbers slice_numbers(KernelContext& ctx, int i, const Shape& dims) {
  const View& view = ctx.in(i);
  if (view.rank() < 1)
    ctx.fail(name_of_input(ctx, i) + " must have at least one axis: got " + view.describe());
  const int lead = view.rank() - 1;
  const int64_t depth = view.shape->back();
  if (depth > dims.rank())
    ctx.fail("the last axis of " + name_of_input(ctx, i) +
             " must not be longer than the rank that it indexes: got " + view.describe() + " for shape " +
             dims.to_string());
  SliceNumbers result{nullptr, 1, 1, 1};
  for (int d = 0; d < lead; ++d) result.count *= view.dim(d);
  for (int d = 0; d < int(depth); ++d) result.slices *= dims[d];
  for (int d = int(depth); d < dims.rank(); ++d) result.slice *= dims[d];
  const bool ignore = ignores_bad_indices(ctx);
  const int64_t* index = widened(ctx, view);
  int64_t* numbers = ctx.scratch<int64_t>(size_t(result.count));
  for (int64_t k = 0; k < result.count; ++k) {
    int64_t number = 0;
    for (int d = 0; d < int(depth); ++d) {
      const int64_t at = index[k * depth + d];
      if (uint64_t(at) >= uint64_t(dims[d])) [[unlikely]] {
        if (ignore) {
          number = -1;
          break;
        }
        std::string tuple;
        for (int e = 0; e < int(depth); ++e) tuple += (e ? ", " : "") + std::to_string(index[k * depth + e]);
        ctx.fail(place_of(ctx, i, k, lead) + " = [" + tuple + "] does not index into shape " +
                 dims.to_string());
      }
      number = number * dims[d] + at;
    }
    numbers[k] = number;
  }
  result.numbers = numbers;
  return result;
}

void parallel_scatter(int64_t rows, int64_t columns, int64_t work,
                      FunctionRef<void(int64_t, int64_t, int64_t, int64_t)> body) {
  if (rows <= 0 || columns <= 0) return;
  int64_t parts = std::min<int64_t>(num_threads(), work / kGrain);
  constexpr int64_t kLine =
      64;  // columns are cut at multiples of this, so that threads share few cache lines
  const bool by_row = rows >= 4 * parts;
  if (!by_row) parts = std::min(parts, columns / kLine);
  if (parts <= 1) return body(0, rows, 0, columns);
  parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      if (by_row) {
        body(rows * p / parts, rows * (p + 1) / parts, 0, columns);
      } else {
        const int64_t lines = columns / kLine;
        body(0, rows, lines * p / parts * kLine, p + 1 == parts ? columns : lines * (p + 1) / parts * kLine);
      }
    }
  });
}

}  // namespace rw
