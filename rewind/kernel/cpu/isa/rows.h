// Turns elementwise definitions into rows of loops. Included by the files of this folder only.
#pragma once

#include "rewind/base/dispatch.h"
#include "rewind/kernel/cpu/isa/isa.h"

namespace rw::RW_ISA {
namespace {

// A bool result stays bool; anything else is rounded to the input's type.
template <class T, class R>
using Stored = std::conditional_t<std::is_same_v<R, bool>, bool, T>;

template <class T, class F>
void unary_loop(const void* x, void* out, int64_t n) {
  using C = Compute<T>;
  using R = Stored<T, decltype(F{}(C{}))>;
  const T* __restrict a = static_cast<const T*>(x);
  R* __restrict o = static_cast<R*>(out);
  for (int64_t i = 0; i < n; ++i) o[i] = static_cast<R>(F{}(static_cast<C>(a[i])));
}

template <class T, class F>
void binary_loop(const void* x, int64_t x_step, const void* y, int64_t y_step, void* out, int64_t n) {
  using C = Compute<T>;
  using R = Stored<T, decltype(F{}(C{}, C{}))>;
  const T* __restrict a = static_cast<const T*>(x);
  const T* __restrict b = static_cast<const T*>(y);
  R* __restrict o = static_cast<R*>(out);
  if (x_step && y_step) {
    for (int64_t i = 0; i < n; ++i) o[i] = static_cast<R>(F{}(static_cast<C>(a[i]), static_cast<C>(b[i])));
  } else if (x_step) {
    const C v = static_cast<C>(*b);
    for (int64_t i = 0; i < n; ++i) o[i] = static_cast<R>(F{}(static_cast<C>(a[i]), v));
  } else if (y_step) {
    const C v = static_cast<C>(*a);
    for (int64_t i = 0; i < n; ++i) o[i] = static_cast<R>(F{}(v, static_cast<C>(b[i])));
  } else {
    const R v = static_cast<R>(F{}(static_cast<C>(*a), static_cast<C>(*b)));
    for (int64_t i = 0; i < n; ++i) o[i] = v;
  }
}

// Calls f.operator()<T>() for each element type of the set.
template <DTypeSet kSet, class F>
void for_each_type(F&& f) {
  for (int i = 0; i < 24; ++i) dispatch<kSet>(DType(i), f);
}

// Counts rows first, then fills them: the tables are plain arrays, so that no container is instantiated here.
template <class Row, int kCapacity>
struct Rows {
  Row rows[kCapacity + 1] = {};
  int count = 0;
  void add(Row row) {
    if (count == kCapacity) __builtin_trap();  // the capacity in the file is too small
    rows[count++] = row;
  }
};

template <int kCapacity>
struct UnaryCollector : Rows<UnaryRow, kCapacity> {
  template <DTypeSet kSet, class F>
  void op(const char* name, F) {
    for_each_type<kSet>([&]<class T>() {
      using R = Stored<T, decltype(F{}(Compute<T>{}))>;
      this->add({name, dtype_of<T>, dtype_of<R>, unary_loop<T, F>});
    });
  }
};

template <int kCapacity>
struct BinaryCollector : Rows<BinaryRow, kCapacity> {
  template <DTypeSet kSet, class F>
  void op(const char* name, F) {
    for_each_type<kSet>([&]<class T>() {
      using R = Stored<T, decltype(F{}(Compute<T>{}, Compute<T>{}))>;
      this->add({name, dtype_of<T>, dtype_of<R>, binary_loop<T, F>});
    });
  }
};

}  // namespace
}  // namespace rw::RW_ISA
