// Loops over runs of channels: see window.h.
#include "rewind/kernel/cpu/isa/window.h"

#include "rewind/base/math/primitives.h"
#include "rewind/kernel/cpu/isa/rows.h"

namespace rw::RW_ISA {
namespace {

template <class T>
void multiply_add(const void* x, const void* y, void* out, RunSteps s) {
  const T* a = static_cast<const T*>(x);
  const T* b = static_cast<const T*>(y);
  T* o = static_cast<T*>(out);
  for (int64_t i = 0; i < s.count; ++i, a += s.x, b += s.y, o += s.out) {
    const T* __restrict p = a;
    const T* __restrict q = b;
    T* __restrict r = o;
    for (int64_t c = 0; c < s.n; ++c) r[c] += p[c] * q[c];
  }
}

template <class T>
void add(const void* x, void* out, RunSteps s) {
  const T* a = static_cast<const T*>(x);
  T* o = static_cast<T*>(out);
  for (int64_t i = 0; i < s.count; ++i, a += s.x, o += s.out) {
    const T* __restrict p = a;
    T* __restrict r = o;
    for (int64_t c = 0; c < s.n; ++c) r[c] += p[c];
  }
}

template <class T>
void maximum(const void* x, void* out, RunSteps s) {
  const T* a = static_cast<const T*>(x);
  T* o = static_cast<T*>(out);
  for (int64_t i = 0; i < s.count; ++i, a += s.x, o += s.out) {
    const T* __restrict p = a;
    T* __restrict r = o;
    for (int64_t c = 0; c < s.n; ++c) {
      const T larger = p[c] > r[c] ? p[c] : r[c];
      if constexpr (std::is_floating_point_v<T>) r[c] = scalar::flushed(larger);
      else r[c] = larger;
    }
  }
}

template <class T>
void argmax(const void* x, void* best, int32_t* taps, int32_t tap, RunSteps s) {
  const T* a = static_cast<const T*>(x);
  T* o = static_cast<T*>(best);
  for (int64_t i = 0; i < s.count; ++i, a += s.x, o += s.out, taps += s.out) {
    const T* __restrict p = a;
    T* __restrict r = o;
    int32_t* __restrict t = taps;
    for (int64_t c = 0; c < s.n; ++c) {
      const bool take =
          (t[c] < 0) | (p[c] > r[c]);  // the first one also where nothing is above the lowest value
      r[c] = take ? p[c] : r[c];
      t[c] = take ? tap : t[c];
    }
  }
}

template <class T, bool kAdd>
void route(const void* x, const int32_t* taps, int32_t tap, void* out, RunSteps s) {
  const T* a = static_cast<const T*>(x);
  T* o = static_cast<T*>(out);
  for (int64_t i = 0; i < s.count; ++i, a += s.x, taps += s.y, o += s.out) {
    const T* __restrict p = a;
    const int32_t* __restrict t = taps;
    T* __restrict r = o;
    for (int64_t c = 0; c < s.n; ++c) {
      const T old = r[c];
      const T v = kAdd ? T(old + p[c]) : p[c];
      r[c] = t[c] == tap ? v : old;
    }
  }
}

}  // namespace

const WindowLoops* window_loops() {
  static constinit WindowLoops loops = {};
  if (loops.add[int(DType::kFloat32)]) return &loops;
  constexpr DTypeSet kNative = kIntTypes | set_of(DType::kFloat32, DType::kFloat64);
  for_each_type<kNative>([&]<class T>() {
    constexpr int d = int(dtype_of<T>);
    loops.maximum[d] = maximum<T>;
    loops.argmax[d] = argmax<T>;
    loops.route[d] = route<T, true>;
    loops.pick[d] = route<T, false>;
  });
  for_each_type<set_of(DType::kFloat32, DType::kFloat64)>([&]<class T>() {
    constexpr int d = int(dtype_of<T>);
    loops.multiply_add[d] = multiply_add<T>;
    loops.add[d] = add<T>;
  });
  return &loops;
}

}  // namespace rw::RW_ISA
