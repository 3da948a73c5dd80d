// ArgMax and ArgMin: the first position of the extreme along one axis. NaN is never it, unless all are.
#include <algorithm>
#include <limits>

#include "rewind/base/dispatch.h"
#include "rewind/device/parallel.h"
#include "rewind/kernel/kernel.h"

namespace rw {
namespace {

constexpr int64_t kChunk = 256;
constexpr int64_t kGrain = 16384;

template <class C, bool kMax>
bool better(C x, C best) {
  return kMax ? x > best : x < best;
}

template <class C, bool kMax>
C worst() {
  if constexpr (std::is_same_v<C, bool>) return !kMax;
  else if constexpr (std::is_floating_point_v<C>)
    return kMax ? -std::numeric_limits<C>::infinity() : std::numeric_limits<C>::infinity();
  else return kMax ? std::numeric_limits<C>::lowest() : std::numeric_limits<C>::max();
}

template <class T, class I, bool kMax>
void row(const T* x, int64_t n, I* out) {
  using C = Compute<T>;
  C best = worst<C, kMax>();
  int64_t at = 0;
  for (int64_t i = 0; i < n; ++i) {
    const C v = static_cast<C>(x[i]);
    if (better<C, kMax>(v, best)) {
      best = v;
      at = i;
    }
  }
  *out = static_cast<I>(at);
}

template <class T, class I, bool kMax>
void columns(const T* x, int64_t n, int64_t inner, int64_t count, I* out) {
  using C = Compute<T>;
  C best[kChunk];
  std::fill_n(best, count, worst<C, kMax>());
  std::fill_n(out, count, I(0));
  for (int64_t i = 0; i < n; ++i) {
    const T* a = x + i * inner;
    for (int64_t c = 0; c < count; ++c) {
      const C v = static_cast<C>(a[c]);
      const bool wins = better<C, kMax>(v, best[c]);
      best[c] = wins ? v : best[c];
      out[c] = wins ? static_cast<I>(i) : out[c];
    }
  }
}

template <class T, class I, bool kMax>
void run(const View& x, int axis, I* out) {
  int64_t outer = 1;
  int64_t inner = 1;
  for (int a = 0; a < axis; ++a) outer *= x.dim(a);
  for (int a = axis + 1; a < x.rank(); ++a) inner *= x.dim(a);
  const int64_t n = x.dim(axis);
  if (x.size == 0) return;
  const int64_t chunks = (inner + kChunk - 1) / kChunk;
  const int64_t grain = std::max<int64_t>(1, kGrain / (n * std::min(inner, kChunk)));
  parallel_for(outer * chunks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t u = begin; u < end; ++u) {
      const int64_t c = u % chunks * kChunk;
      const int64_t o = u / chunks;
      const T* from = x.as<T>() + o * n * inner + c;
      if (inner == 1) row<T, I, kMax>(from, n, out + o);
      else columns<T, I, kMax>(from, n, inner, std::min(inner - c, kChunk), out + o * inner + c);
    }
  });
}

template <bool kMax>
void arg_extreme(KernelContext& ctx) {
  const View& x = ctx.in(0);
  const View& axis_view = ctx.in(1);
  const View& out = ctx.out(0);
  int64_t axis = 0;
  dispatch<kSignedTypes>(axis_view.dtype, [&]<class A>() { axis = *axis_view.as<A>(); });
  if (axis < 0) axis += x.rank();
  constexpr DTypeSet kOut = set_of(DType::kInt16, DType::kUint16, DType::kInt32, DType::kInt64);
  const bool known = dispatch < kRealTypes | set_of(DType::kBool) > (x.dtype, [&]<class T>() {
                                               dispatch<kOut>(out.dtype, [&]<class I>() {
                                                 run<T, I, kMax>(x, int(axis), out.as<I>());
                                               });
                                             });
  if (!known) ctx.fail_dtype(x.dtype);
}

}  // namespace

void register_arg_max_cpu_kernels() {
  register_kernel("ArgMax", DeviceType::kCpu, arg_extreme<true>);
  register_kernel("ArgMin", DeviceType::kCpu, arg_extreme<false>);
}

}  // namespace rw
