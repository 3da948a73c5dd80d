// Reductions over segments. Within a segment rows are taken in the order of the data, so the split over
// threads never shows. Sums and products of 16-bit floats are made in float and rounded once.
#include <algorithm>
#include <limits>

#include "rewind/base/dispatch.h"
#include "rewind/device/parallel.h"
#include "rewind/kernel/cpu/indexing.h"
#include "rewind/kernel/cpu/scatter.h"

namespace rw {
namespace {

struct SegmentKind {
  ScatterKind combine;
  bool mean = false;
};
constexpr SegmentKind kSum{ScatterKind::kAdd};
constexpr SegmentKind kMean{ScatterKind::kAdd, true};
constexpr SegmentKind kProd{ScatterKind::kMul};
constexpr SegmentKind kMax{ScatterKind::kSegmentMax};
constexpr SegmentKind kMin{ScatterKind::kSegmentMin};

// Where a reduction starts; also what a segment without rows gives in the unsorted ops. The extremes are
// finite.
template <class T>
Compute<T> start_value(ScatterKind kind) {
  using C = Compute<T>;
  constexpr bool kIsHalf = std::is_same_v<T, Half>;
  constexpr bool kIsBfloat = std::is_same_v<T, Bfloat16>;
  const C largest = kIsHalf ? C(65504) : kIsBfloat ? C(0x1.fep127) : std::numeric_limits<C>::max();
  const C least = is_float_element<T> ? C(-largest) : std::numeric_limits<C>::lowest();
  switch (kind) {
    case ScatterKind::kMul: return C(1);
    case ScatterKind::kSegmentMax: return least;
    case ScatterKind::kSegmentMin: return largest;
    default: return C(0);
  }
}

// out(rows x columns) = the rows of data combined by ids; ids outside [0, rows) are dropped.
template <class T>
void reduce(KernelContext& ctx, ScatterKind kind, const View& data, const int64_t* ids, int64_t count, T* out,
            int64_t rows, int64_t columns, const T* if_empty) {
  using C = Compute<T>;
  const ScatterRow* row = find_scatter(kind, data.dtype);
  const int64_t size = rows * columns;
  if constexpr (std::is_same_v<C, T>) {
    std::fill_n(out, size, start_value<T>(kind));
    scatter_into(row->in_place, out, data.data, ids, count, rows, columns, columns);
  } else {
    C* sums = ctx.scratch<C>(size_t(size));
    std::fill_n(sums, size, start_value<T>(kind));
    scatter_into(row->wide, sums, data.data, ids, count, rows, columns, columns);
    for (int64_t i = 0; i < size; ++i) out[i] = static_cast<T>(sums[i]);
  }
  if (!if_empty) return;
  bool* seen = ctx.scratch<bool>(size_t(rows));
  std::fill_n(seen, rows, false);
  for (int64_t k = 0; k < count; ++k) seen[ids[k]] = true;
  for (int64_t r = 0; r < rows; ++r)
    if (!seen[r]) std::fill_n(out + r * columns, columns, *if_empty);
}

void unsorted_segment(KernelContext& ctx) {
  const ScatterKind kind = ctx.data<SegmentKind>().combine;
  const View& data = ctx.in(0);
  const View& ids = ctx.in(1);
  const View& out = ctx.out(0);
  const int64_t rows = out.dim(0);
  const int64_t* id = widened(ctx, ids);
  // Negative ids are dropped; too large ones are an error.
  if (data.size > 0)
    for (int64_t k = 0; k < ids.size; ++k)
      if (id[k] >= rows)
        ctx.fail(place_of(ctx, 1, k) + " = " + std::to_string(id[k]) + " is not in [0, " +
                 std::to_string(rows) + ")");
  if (out.size == 0) return;
  const bool ok = dispatch<kRealTypes>(data.dtype, [&]<class T>() {
    reduce<T>(ctx, kind, data, id, data.size > 0 ? ids.size : 0, out.as<T>(), rows, out.size / rows, nullptr);
  });
  if (!ok) ctx.fail_dtype(data.dtype);
}

template <class T>
void divide_rows(KernelContext& ctx, const int64_t* ids, int64_t count, T* out, int64_t rows,
                 int64_t columns) {
  using C = Compute<T>;
  int64_t* sizes = ctx.scratch<int64_t>(size_t(rows));
  std::fill_n(sizes, rows, 0);
  for (int64_t k = 0; k < count; ++k) ++sizes[ids[k]];
  for (int64_t r = 0; r < rows; ++r) {
    if (sizes[r] < 2) continue;
    const C by = C(sizes[r]);
    for (int64_t c = 0; c < columns; ++c)
      if (by != C(0)) out[r * columns + c] = static_cast<T>(C(static_cast<C>(out[r * columns + c]) / by));
  }
}

void sorted_segment(KernelContext& ctx) {
  const SegmentKind& kind = ctx.data<SegmentKind>();
  const View& data = ctx.in(0);
  const View& ids = ctx.in(1);
  const int64_t* id = widened(ctx, ids);
  for (int64_t k = 0; k < ids.size; ++k) {
    if (id[k] < 0)
      ctx.fail("segment_ids must not be negative: " + place_of(ctx, 1, k) + " = " + std::to_string(id[k]));
    if (k > 0 && id[k] < id[k - 1])
      ctx.fail("segment_ids must be sorted: " + place_of(ctx, 1, k) + " = " + std::to_string(id[k]) +
               " comes after " + std::to_string(id[k - 1]));
  }
  const int64_t rows = ids.size == 0 ? 0 : id[ids.size - 1] + 1;
  Shape shape = *data.shape;
  shape.set(0, rows);
  const View out = ctx.allocate_output(0, std::move(shape));
  if (out.size == 0) return;
  const int64_t columns = out.size / rows;
  const bool ok = dispatch<kRealTypes>(data.dtype, [&]<class T>() {
    const T empty = static_cast<T>(Compute<T>(kind.combine == ScatterKind::kMul ? 1 : 0));
    const bool extremes =
        kind.combine == ScatterKind::kSegmentMax || kind.combine == ScatterKind::kSegmentMin;
    reduce<T>(ctx, kind.combine, data, id, ids.size, out.as<T>(), rows, columns, extremes ? &empty : nullptr);
    if (kind.mean) divide_rows<T>(ctx, id, ids.size, out.as<T>(), rows, columns);
  });
  if (!ok) ctx.fail_dtype(data.dtype);
}

}  // namespace

void register_segment_cpu_kernels() {
  register_kernel("SegmentSum", DeviceType::kCpu, sorted_segment, &kSum);
  register_kernel("SegmentMean", DeviceType::kCpu, sorted_segment, &kMean);
  register_kernel("SegmentProd", DeviceType::kCpu, sorted_segment, &kProd);
  register_kernel("SegmentMax", DeviceType::kCpu, sorted_segment, &kMax);
  register_kernel("SegmentMin", DeviceType::kCpu, sorted_segment, &kMin);
  register_kernel("UnsortedSegmentSum", DeviceType::kCpu, unsorted_segment, &kSum);
  register_kernel("UnsortedSegmentProd", DeviceType::kCpu, unsorted_segment, &kProd);
  register_kernel("UnsortedSegmentMax", DeviceType::kCpu, unsorted_segment, &kMax);
  register_kernel("UnsortedSegmentMin", DeviceType::kCpu, unsorted_segment, &kMin);
}

}  // namespace rw
