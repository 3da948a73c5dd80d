// Diagonals and bands: copies by element size.
#include <algorithm>
#include <cstring>

#include "rewind/device/parallel.h"
#include "rewind/kernel/cpu/linalg.h"

namespace rw {
namespace {

constexpr DTypeSet kCopied = kRealTypes | set_of(DType::kBool);
constexpr int64_t kGrain = 16384;

// Calls f.operator()<U>() with an unsigned type of the element's size.
template <class F>
void by_size(KernelContext& ctx, DType dtype, F&& f) {
  if (!contains(kCopied, dtype)) ctx.fail_dtype(dtype);
  switch (size_of(dtype)) {
    case 1: return f.template operator()<uint8_t>();
    case 2: return f.template operator()<uint16_t>();
    case 4: return f.template operator()<uint32_t>();
    default: return f.template operator()<uint64_t>();
  }
}

template <class F>
void for_each_matrix(int64_t count, int64_t elements, F&& f) {
  parallel_for(count, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, elements)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) f(i);
               });
}

int64_t last(const View& v, int from_end) { return v.dim(v.rank() - from_end); }

void diag(KernelContext& ctx) {
  const View& x = ctx.in(0);
  const View& out = ctx.out(0);
  by_size(ctx, x.dtype, [&]<class U>() {
    std::fill_n(out.as<U>(), out.size, U(0));
    for (int64_t i = 0; i < x.size; ++i) out.as<U>()[i * (x.size + 1)] = x.as<U>()[i];
  });
}

void diag_part(KernelContext& ctx) {
  const View& x = ctx.in(0);
  const View& out = ctx.out(0);
  by_size(ctx, x.dtype, [&]<class U>() {
    for (int64_t i = 0; i < out.size; ++i) out.as<U>()[i] = x.as<U>()[i * (out.size + 1)];
  });
}

int64_t scalar_int(const View& v) { return v.dtype == DType::kInt32 ? *v.as<int32_t>() : *v.as<int64_t>(); }

void band_part(KernelContext& ctx) {
  const View& x = ctx.in(0);
  const View& out = ctx.out(0);
  const int64_t rows = last(x, 2);
  const int64_t cols = last(x, 1);
  if (x.size == 0) return;
  int64_t lower = scalar_int(ctx.in(1));
  int64_t upper = scalar_int(ctx.in(2));
  if (lower < 0) lower = rows;
  if (upper < 0) upper = cols;
  by_size(ctx, x.dtype, [&]<class U>() {
    for_each_matrix(x.size / cols, cols, [&](int64_t r) {
      const int64_t i = r % rows;
      const int64_t begin = std::clamp<int64_t>(i - lower, 0, cols);
      const int64_t end = std::clamp<int64_t>(i + upper + 1, begin, cols);
      const U* from = x.as<U>() + r * cols;
      U* to = out.as<U>() + r * cols;
      std::fill_n(to, begin, U(0));
      std::copy(from + begin, from + end, to + begin);
      std::fill(to + end, to + cols, U(0));
    });
  });
}

// Where the diagonals [low, high] of a rows x cols matrix lie in a (high - low + 1, width) array. The first
// row of that array is the highest diagonal; shorter ones are moved to one side.
struct Band {
  int64_t rows, cols, low, high, width;
  bool upper_left, lower_left;  // whether a shorter diagonal above (below) the main one starts at the left

  int64_t count() const { return high - low + 1; }
  int64_t length(int64_t d) const {
    return std::min(rows + std::min<int64_t>(d, 0), cols - std::max<int64_t>(d, 0));
  }
  // Calls f(matrix index, diagonal index) for each element of the band.
  template <class F>
  void for_each(F&& f) const {
    for (int64_t d = high; d >= low; --d) {
      const int64_t n = length(d);
      const bool left = d >= 0 ? upper_left : lower_left;
      const int64_t start = (high - d) * width + (left ? 0 : width - n);
      const int64_t first = std::max<int64_t>(-d, 0) * cols + std::max<int64_t>(d, 0);
      for (int64_t i = 0; i < n; ++i) f(first + i * (cols + 1), start + i);
    }
  }
};

// `k` is null for the ops of the first version, which know the main diagonal only.
Band make_band(KernelContext& ctx, const View* k, int64_t rows, int64_t cols) {
  Band b{rows, cols, 0, 0, 0, true, true};
  if (k) {
    b.low = k->as<int32_t>()[0];
    b.high = k->as<int32_t>()[k->size - 1];
    if (ctx.op().find_attr("align")) {
      const std::string align = ctx.attr<std::string>("align");  // "<superdiagonals>_<subdiagonals>"
      b.upper_left = align.starts_with("LEFT");
      b.lower_left = align.ends_with("_LEFT");
    }
  }
  b.width = std::min(rows + std::min<int64_t>(b.high, 0), cols - std::max<int64_t>(b.low, 0));
  return b;
}

void matrix_diag(KernelContext& ctx) {
  const View& x = ctx.in(0);
  const View& out = ctx.out(0);
  if (out.size == 0) return;
  const bool banded = ctx.num_inputs() > 1;
  const Band band = make_band(ctx, banded ? &ctx.in(1) : nullptr, last(out, 2), last(out, 1));
  const int64_t matrix = band.rows * band.cols;
  by_size(ctx, x.dtype, [&]<class U>() {
    const U padding = banded ? *ctx.in(4).as<U>() : U(0);
    for_each_matrix(out.size / matrix, matrix, [&](int64_t i) {
      U* to = out.as<U>() + i * matrix;
      const U* from = x.as<U>() + i * band.count() * band.width;
      std::fill_n(to, matrix, padding);
      band.for_each([&](int64_t m, int64_t d) { to[m] = from[d]; });
    });
  });
}

void matrix_diag_part(KernelContext& ctx) {
  const View& x = ctx.in(0);
  const View& out = ctx.out(0);
  if (out.size == 0) return;
  const bool banded = ctx.num_inputs() > 1;
  const Band band = make_band(ctx, banded ? &ctx.in(1) : nullptr, last(x, 2), last(x, 1));
  const int64_t part = band.count() * band.width;
  by_size(ctx, x.dtype, [&]<class U>() {
    const U padding = banded ? *ctx.in(2).as<U>() : U(0);
    for_each_matrix(out.size / part, part, [&](int64_t i) {
      U* to = out.as<U>() + i * part;
      const U* from = x.as<U>() + i * band.rows * band.cols;
      std::fill_n(to, part, padding);
      band.for_each([&](int64_t m, int64_t d) { to[d] = from[m]; });
    });
  });
}

void matrix_set_diag(KernelContext& ctx) {
  const View& x = ctx.in(0);
  const View& diagonal = ctx.in(1);
  const View& out = ctx.out(0);
  if (out.size == 0) return;
  const Band band = make_band(ctx, ctx.num_inputs() > 2 ? &ctx.in(2) : nullptr, last(x, 2), last(x, 1));
  const int64_t matrix = band.rows * band.cols;
  by_size(ctx, x.dtype, [&]<class U>() {
    for_each_matrix(out.size / matrix, matrix, [&](int64_t i) {
      U* to = out.as<U>() + i * matrix;
      const U* from = diagonal.as<U>() + i * band.count() * band.width;
      std::memcpy(to, x.as<U>() + i * matrix, size_t(matrix) * sizeof(U));
      band.for_each([&](int64_t m, int64_t d) { to[m] = from[d]; });
    });
  });
}

}  // namespace

void register_linalg_diag_cpu_kernels() {
  register_kernel("Diag", DeviceType::kCpu, diag);
  register_kernel("DiagPart", DeviceType::kCpu, diag_part);
  register_kernel("MatrixBandPart", DeviceType::kCpu, band_part);
  for (const char* op : {"MatrixDiag", "MatrixDiagV2", "MatrixDiagV3"})
    register_kernel(op, DeviceType::kCpu, matrix_diag);
  for (const char* op : {"MatrixDiagPart", "MatrixDiagPartV2", "MatrixDiagPartV3"})
    register_kernel(op, DeviceType::kCpu, matrix_diag_part);
  for (const char* op : {"MatrixSetDiag", "MatrixSetDiagV2", "MatrixSetDiagV3"})
    register_kernel(op, DeviceType::kCpu, matrix_set_diag);
}

}  // namespace rw
