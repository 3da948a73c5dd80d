// ArgMax and ArgMin: the first position of the extreme along one axis. NaN is never it, unless all are.
#include <algorithm>

#include "rewind/base/dispatch.h"
#include "rewind/device/parallel.h"
#include "rewind/kernel/cpu/isa/arg_extreme.h"
#include "rewind/kernel/kernel.h"

namespace rw {
namespace {

constexpr int64_t kChunk = 1024;  // places that are found together
constexpr int64_t kGrain = 16384;
constexpr int64_t kSegment = 65536;  // elements that are worth a thread's start
constexpr DTypeSet kInputs = kRealTypes | set_of(DType::kBool);

const ArgExtremeLoops* find_loops(DType in, bool max) {
  const ArgExtremeLoops* row = arg_extreme_loops();
  while (row->in != DType::kInvalid && (row->in != in || row->max != max)) ++row;
  return row->in == DType::kInvalid ? nullptr : row;
}

struct Extent {
  int64_t outer, n, inner;
};

// The places inside [first, first + count) along the axis, of all outputs.
template <class T>
void find_places(const ArgExtremeLoops& loops, const T* x, const Extent& e, int64_t first, int64_t count,
                 T* value, int64_t* place) {
  const int64_t chunk =
      e.inner == 1 ? std::max<int64_t>(1, std::min(kChunk, kGrain / count))
                   : std::clamp<int64_t>(e.inner / (2 * int64_t(num_threads())) / 64 * 64, 64, kChunk);
  if (e.inner == 1 && count == e.n) {
    parallel_for((e.outer + chunk - 1) / chunk, 1, [&](int64_t begin, int64_t end) {
      const int64_t from = begin * chunk, to = std::min(e.outer, end * chunk);
      loops.rows(x + from * e.n, e.n, to - from, value + from, place + from);
    });
    return;
  }
  const int64_t chunks = (e.inner + chunk - 1) / chunk;
  const int64_t grain = std::max<int64_t>(1, kGrain / (count * std::min(e.inner, chunk)));
  parallel_for(e.outer * chunks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t u = begin; u < end; ++u) {
      const int64_t c = u % chunks * chunk, o = u / chunks;
      const T* from = x + (o * e.n + first) * e.inner + c;
      const int64_t to = o * e.inner + c;
      if (e.inner == 1) loops.rows(from, count, 1, value + to, place + to);
      else loops.columns(from, e.inner, count, std::min(e.inner - c, chunk), value + to, place + to);
    }
  });
}

// Few outputs of long axes: parts of the axis side by side, of which the first that nobody beats wins.
template <class T>
void find_places_by_segments(const ArgExtremeLoops& loops, const T* x, const Extent& e, int64_t segments,
                             T* value, int64_t* place) {
  const int64_t outputs = e.outer * e.inner;
  parallel_for(segments, 1, [&](int64_t begin, int64_t end) {
    for (int64_t s = begin; s < end; ++s) {
      const int64_t first = e.n * s / segments, last = e.n * (s + 1) / segments;
      find_places(loops, x, e, first, last - first, value + s * outputs, place + s * outputs);
    }
  });
  const auto beats = [&](T a, T b) {
    return loops.max ? static_cast<Compute<T>>(a) > static_cast<Compute<T>>(b)
                     : static_cast<Compute<T>>(a) < static_cast<Compute<T>>(b);
  };
  for (int64_t s = 1; s < segments; ++s) {
    for (int64_t i = 0; i < outputs; ++i) {
      if (!beats(value[s * outputs + i], value[i])) continue;
      value[i] = value[s * outputs + i];
      place[i] = e.n * s / segments + place[s * outputs + i];
    }
  }
}

template <bool kMax>
void arg_extreme(KernelContext& ctx) {
  const View& x = ctx.in(0);
  const View& axis_view = ctx.in(1);
  const View& out = ctx.out(0);
  if (!contains(kInputs, x.dtype)) ctx.fail_dtype(x.dtype);
  if (x.size == 0) return;
  int64_t axis = 0;
  dispatch<kSignedTypes>(axis_view.dtype, [&]<class A>() { axis = *axis_view.as<A>(); });
  if (axis < 0) axis += x.rank();
  Extent e{1, x.dim(int(axis)), 1};
  for (int a = 0; a < axis; ++a) e.outer *= x.dim(a);
  for (int a = int(axis) + 1; a < x.rank(); ++a) e.inner *= x.dim(a);
  if (e.inner > 1 && e.n > INT32_MAX) ctx.fail("an axis before the last has at most 2^31 - 1 elements");

  const ArgExtremeLoops& loops = *find_loops(x.dtype, kMax);
  const int64_t segments =
      out.size >= 256 || e.n < 2 * kSegment ? 1 : std::min<int64_t>(num_threads(), x.size / kSegment);
  const bool wide = out.dtype == DType::kInt64 && segments == 1;
  int64_t* place = wide ? out.as<int64_t>() : ctx.scratch<int64_t>(size_t(out.size * segments));
  dispatch<kInputs>(x.dtype, [&]<class T>() {
    T* value = ctx.scratch<T>(size_t(out.size * segments));
    if (segments == 1) find_places(loops, x.as<T>(), e, 0, e.n, value, place);
    else find_places_by_segments(loops, x.as<T>(), e, segments, value, place);
  });
  if (wide) return;
  constexpr DTypeSet kOut = set_of(DType::kInt16, DType::kUint16, DType::kInt32, DType::kInt64);
  dispatch<kOut>(out.dtype, [&]<class I>() {
    I* to = out.as<I>();
    for (int64_t i = 0; i < out.size; ++i) to[i] = static_cast<I>(place[i]);
  });
}

}  // namespace

void register_arg_max_cpu_kernels() {
  register_kernel("ArgMax", DeviceType::kCpu, arg_extreme<true>);
  register_kernel("ArgMin", DeviceType::kCpu, arg_extreme<false>);
}

}  // namespace rw
