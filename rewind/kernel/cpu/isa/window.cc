// Loops over runs of channels: see window.h.
#include "rewind/kernel/cpu/isa/window.h"

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
      const T v = p[c];
      const T old = r[c];
      r[c] = !(v <= old) ? v : old;
    }
  }
}

}  // namespace

const WindowLoops* window_loops() {
  static constinit WindowLoops loops = {};
  if (loops.add[int(DType::kFloat32)]) return &loops;
  constexpr DTypeSet kNative = kIntTypes | set_of(DType::kFloat32, DType::kFloat64);
  for_each_type<kNative>([&]<class T>() { loops.maximum[int(dtype_of<T>)] = maximum<T>; });
  for_each_type<set_of(DType::kFloat32, DType::kFloat64)>([&]<class T>() {
    loops.multiply_add[int(dtype_of<T>)] = multiply_add<T>;
    loops.add[int(dtype_of<T>)] = add<T>;
  });
  return &loops;
}

}  // namespace rw::RW_ISA
