// Cumsum, Cumprod, CumulativeLogsumexp: running results along one axis, one element after the other. 16-bit
// floats accumulate in float.
#include <algorithm>
#include <cmath>
#include <limits>

#include "rewind/base/dispatch.h"
#include "rewind/base/math/math.h"
#include "rewind/device/parallel.h"
#include "rewind/kernel/kernel.h"

namespace rw {
namespace {

constexpr int64_t kChunk = 512;  // neighbouring columns that run together
constexpr int64_t kGrain = 16384;

struct RunningSum {
  template <class C>
  static C start() {
    return C(0);
  }
  template <class C>
  static C step(C a, C x) {
    return C(a + x);
  }
};

struct RunningProduct {
  template <class C>
  static C start() {
    return C(1);
  }
  template <class C>
  static C step(C a, C x) {
    return C(a * x);
  }
};

// log(e^a + e^x) = m + log1p(e^(low - m)) with m the larger of the two.
struct RunningLogSumExp {
  template <class C>
  static C start() {
    return -std::numeric_limits<C>::infinity();
  }
  template <class C>
  static C step(C a, C x) {
    // In this order a NaN among the elements counts as one more of the running result, as in TensorFlow.
    const C high = a < x ? x : a;
    const C low = x < a ? x : a;
    if (high == low && std::abs(high) == std::numeric_limits<C>::infinity()) return high;
    return high + scalar::log1p(scalar::exp(C(low - high)));
  }
};

// One chunk of columns: x and out point to its first row, rows are `inner` apart.
template <class T, class F>
void scan_columns(const T* x, T* out, int64_t n, int64_t inner, int64_t columns, bool exclusive,
                  bool reverse) {
  using C = Compute<T>;
  C acc[kChunk];
  std::fill_n(acc, columns, F::template start<C>());
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = (reverse ? n - 1 - i : i) * inner;
    const T* a = x + at;
    T* o = out + at;
    if (exclusive) {
      for (int64_t c = 0; c < columns; ++c) {
        const C v = static_cast<C>(a[c]);
        o[c] = static_cast<T>(acc[c]);
        acc[c] = F::template step<C>(acc[c], v);
      }
    } else {
      for (int64_t c = 0; c < columns; ++c) {
        acc[c] = F::template step<C>(acc[c], static_cast<C>(a[c]));
        o[c] = static_cast<T>(acc[c]);
      }
    }
  }
}

constexpr int kTogether = 8;  // rows
constexpr int64_t kBlock = 128;
constexpr int64_t kPitch = kBlock + 16;  // rows of a block lie in different sets of the cache

// Some steps of kTogether rows side by side: each waits for its own last step only, so the others fill the
// time.
template <class T, class F>
void scan_block(const T* x, T* out, int64_t n, Compute<T>* acc, bool exclusive, bool reverse) {
  using C = Compute<T>;
  C sums[kTogether];
  std::copy_n(acc, kTogether, sums);
  const int64_t step = reverse ? -1 : 1;
  for (int64_t i = 0, at = reverse ? n - 1 : 0; i < n; ++i, at += step) {
#pragma GCC unroll 8
    for (int r = 0; r < kTogether; ++r) {
      const C before = sums[r];
      sums[r] = F::template step<C>(before, static_cast<C>(x[r * kPitch + at]));
      out[r * kPitch + at] = static_cast<T>(exclusive ? before : sums[r]);
    }
  }
  std::copy_n(sums, kTogether, acc);
}

// kTogether rows, n apart. They go through blocks of their own memory: often n is a power of two, and then
// elements of the same place in all rows fall on each other in the cache.
template <class T, class F>
void scan_rows(const T* x, T* out, int64_t n, bool exclusive, bool reverse) {
  alignas(64) T from[kTogether * kPitch];
  alignas(64) T to[kTogether * kPitch];
  Compute<T> acc[kTogether];
  std::fill_n(acc, kTogether, F::template start<Compute<T>>());
  for (int64_t done = 0; done < n; done += kBlock) {
    const int64_t count = std::min(kBlock, n - done);
    const int64_t first = reverse ? n - done - count : done;
    for (int r = 0; r < kTogether; ++r) std::copy_n(x + r * n + first, count, from + r * kPitch);
    if (exclusive) scan_block<T, F>(from, to, count, acc, true, reverse);
    else scan_block<T, F>(from, to, count, acc, false, reverse);
    for (int r = 0; r < kTogether; ++r) std::copy_n(to + r * kPitch, count, out + r * n + first);
  }
}

template <class T, class F>
void scan_row(const T* x, T* out, int64_t n, bool exclusive, bool reverse) {
  using C = Compute<T>;
  C sum = F::template start<C>();
  const int64_t step = reverse ? -1 : 1;
  for (int64_t i = 0, at = reverse ? n - 1 : 0; i < n; ++i, at += step) {
    const C before = sum;
    sum = F::template step<C>(sum, static_cast<C>(x[at]));
    out[at] = static_cast<T>(exclusive ? before : sum);
  }
}

template <class T, class F>
void scan_last_axis(const T* x, T* out, int64_t rows, int64_t n, bool exclusive, bool reverse) {
  const int64_t whole = rows / kTogether * kTogether;
  for (int64_t r = 0; r < whole; r += kTogether)
    scan_rows<T, F>(x + r * n, out + r * n, n, exclusive, reverse);
  for (int64_t r = whole; r < rows; ++r) scan_row<T, F>(x + r * n, out + r * n, n, exclusive, reverse);
}

template <class F, DTypeSet kTypes>
void scan(KernelContext& ctx) {
  const View& x = ctx.in(0);
  const View& out = ctx.out(0);
  const bool exclusive = ctx.attr<bool>("exclusive");
  const bool reverse = ctx.attr<bool>("reverse");
  const View& axis_view = ctx.in(1);
  int64_t axis = axis_view.dtype == DType::kInt64 ? *axis_view.as<int64_t>() : *axis_view.as<int32_t>();
  if (axis < 0) axis += x.rank();
  int64_t outer = 1;
  int64_t inner = 1;
  for (int a = 0; a < axis; ++a) outer *= x.dim(a);
  for (int a = int(axis) + 1; a < x.rank(); ++a) inner *= x.dim(a);
  const int64_t n = x.dim(int(axis));
  const bool known = dispatch<kTypes>(x.dtype, [&]<class T>() {
    if (x.size == 0) return;
    if (inner == 1) {
      parallel_for(outer, std::max<int64_t>(1, kGrain / n), [&](int64_t begin, int64_t end) {
        scan_last_axis<T, F>(x.as<T>() + begin * n, out.as<T>() + begin * n, end - begin, n, exclusive,
                             reverse);
      });
      return;
    }
    const int64_t chunks = (inner + kChunk - 1) / kChunk;
    const int64_t grain = std::max<int64_t>(1, kGrain / (n * std::min(inner, kChunk)));
    parallel_for(outer * chunks, grain, [&](int64_t begin, int64_t end) {
      for (int64_t u = begin; u < end; ++u) {
        const int64_t c = u % chunks * kChunk;
        const int64_t at = u / chunks * n * inner + c;
        scan_columns<T, F>(x.as<T>() + at, out.as<T>() + at, n, inner, std::min(inner - c, kChunk), exclusive,
                           reverse);
      }
    });
  });
  if (!known) ctx.fail_dtype(x.dtype);
}

}  // namespace

void register_scan_cpu_kernels() {
  register_kernel("Cumsum", DeviceType::kCpu, scan<RunningSum, kRealTypes>);
  register_kernel("Cumprod", DeviceType::kCpu, scan<RunningProduct, kRealTypes>);
  register_kernel("CumulativeLogsumexp", DeviceType::kCpu, scan<RunningLogSumExp, kFloatTypes>);
}

}  // namespace rw
