// Loops: choice by a condition. Elements are moved, not looked at, so only their size matters.
#include "rewind/kernel/cpu/isa/isa.h"

namespace rw::RW_ISA {
namespace {

template <class T>
void select_elements(const void* condition, int64_t c_step, const void* x, int64_t x_step, const void* y,
                     int64_t y_step, void* out, int64_t n) {
  const uint8_t* __restrict c = static_cast<const uint8_t*>(condition);
  const T* __restrict a = static_cast<const T*>(x);
  const T* __restrict b = static_cast<const T*>(y);
  T* __restrict o = static_cast<T*>(out);
  if (c_step == 0) {
    const T* from = *c ? a : b;
    const int64_t step = *c ? x_step : y_step;
    if (step == 0) {
      const T v = *from;
      for (int64_t i = 0; i < n; ++i) o[i] = v;
    } else {
      __builtin_memcpy(o, from, size_t(n) * sizeof(T));
    }
  } else if (x_step && y_step) {
    for (int64_t i = 0; i < n; ++i) o[i] = c[i] ? a[i] : b[i];
  } else if (x_step) {
    const T v = *b;
    for (int64_t i = 0; i < n; ++i) o[i] = c[i] ? a[i] : v;
  } else if (y_step) {
    const T v = *a;
    for (int64_t i = 0; i < n; ++i) o[i] = c[i] ? v : b[i];
  } else {
    const T v = *a, w = *b;
    for (int64_t i = 0; i < n; ++i) o[i] = c[i] ? v : w;
  }
}

}  // namespace

TernaryLoop select_loop(size_t element_size) {
  switch (element_size) {
    case 1: return select_elements<uint8_t>;
    case 2: return select_elements<uint16_t>;
    case 4: return select_elements<uint32_t>;
    case 8: return select_elements<uint64_t>;
    default: return nullptr;
  }
}

}  // namespace rw::RW_ISA
