// Turns elementwise definitions into rows of loops. Included by the files of this folder only.
//
// The 16-bit floats are widened into small buffers, go through the float loop and are rounded on the way out,
// so that each function is compiled for float and double only.
#pragma once

#include "rewind/base/dispatch.h"
#include "rewind/kernel/cpu/isa/isa.h"

namespace rw::RW_ISA {
namespace {

inline constexpr int64_t kBlock = 256;  // elements of a buffer on the stack

template <class T>
inline constexpr bool is_small_float = std::is_same_v<T, Half> || std::is_same_v<T, Bfloat16>;

// bool and uint8 results are kept; anything else is rounded to the input's type.
template <class T, class R>
using Stored = std::conditional_t<std::is_same_v<R, bool> || std::is_same_v<R, uint8_t>, R, T>;

template <class T>
void widen_block(const void* from, float* __restrict to, int64_t n) {
  const T* __restrict a = static_cast<const T*>(from);
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(a[i]);
}
template <class T>
void round_block(const float* __restrict from, void* to, int64_t n) {
  T* __restrict o = static_cast<T*>(to);
  for (int64_t i = 0; i < n; ++i) o[i] = static_cast<T>(from[i]);
}

template <class T>
const char* element(const void* p, int64_t i) {
  return static_cast<const char*>(p) + i * int64_t(sizeof(T));
}
template <class T>
char* element(void* p, int64_t i) {
  return static_cast<char*>(p) + i * int64_t(sizeof(T));
}

// One operand of a loop over blocks: a pointer into the array, or a buffer that is filled for each block (or,
// for one value for all, once).
template <class T>
struct BlockOperand {
  float buffer[kBlock];
  const void* from;
  int64_t step;
  BlockOperand(const void* from, int64_t step) : from(from), step(step) {
    if (step == 0) widen_block<T>(from, buffer, 1);
  }
  const float* at(int64_t i, int64_t n) {
    if (step != 0) widen_block<T>(element<T>(from, i), buffer, n);
    return buffer;
  }
};

// Runs body(i, n, out) over blocks; `out` is a buffer of floats when R is a 16-bit float, else the array.
template <class R, class Body>
void over_blocks(void* out, int64_t count, Body body) {
  [[maybe_unused]] float buffer[kBlock];
  for (int64_t i = 0; i < count; i += kBlock) {
    const int64_t n = count - i < kBlock ? count - i : kBlock;
    if constexpr (is_small_float<R>) {
      body(i, n, buffer);
      round_block<R>(buffer, element<R>(out, i), n);
    } else {
      body(i, n, element<R>(out, i));
    }
  }
}

// ---- one input ----

template <class T, class R>
[[gnu::noinline]] void unary_blocks(UnaryLoop loop, const void* x, void* out, int64_t count) {
  BlockOperand<T> a(x, 1);
  over_blocks<R>(out, count, [&](int64_t i, int64_t n, void* o) { loop(a.at(i, n), o, n); });
}

template <class T, class F>
void unary_loop(const void* x, void* out, int64_t n) {
  using R = Stored<T, decltype(F{}(Compute<T>{}))>;
  if constexpr (is_small_float<T>) {
    unary_blocks<T, R>(unary_loop<float, F>, x, out, n);
  } else {
    const T* __restrict a = static_cast<const T*>(x);
    R* __restrict o = static_cast<R*>(out);
    for (int64_t i = 0; i < n; ++i) o[i] = static_cast<R>(F{}(a[i]));
  }
}

// Blocks in which `Allows` holds for every element go through Fast.
template <class T, class F, class Fast, class Allows>
void unary_loop_with_fast_path(const void* x, void* out, int64_t count) {
  if constexpr (is_small_float<T>) {
    unary_blocks<T, T>(unary_loop_with_fast_path<float, F, Fast, Allows>, x, out, count);
  } else {
    for (int64_t i = 0; i < count; i += kBlock) {
      const int64_t n = count - i < kBlock ? count - i : kBlock;
      const T* __restrict a = static_cast<const T*>(x) + i;
      int not_allowed = 0;
      for (int64_t j = 0; j < n; ++j) not_allowed |= !Allows{}(a[j]);
      (not_allowed ? unary_loop<T, F> : unary_loop<T, Fast>)(a, static_cast<T*>(out) + i, n);
    }
  }
}

// ---- two inputs ----

template <class T, class R>
[[gnu::noinline]] void binary_blocks(BinaryLoop loop, const void* x, int64_t x_step, const void* y,
                                     int64_t y_step, void* out, int64_t count) {
  BlockOperand<T> a(x, x_step), b(y, y_step);
  over_blocks<R>(out, count,
                 [&](int64_t i, int64_t n, void* o) { loop(a.at(i, n), x_step, b.at(i, n), y_step, o, n); });
}

template <class T, class F>
void binary_loop(const void* x, int64_t x_step, const void* y, int64_t y_step, void* out, int64_t n) {
  using R = Stored<T, decltype(F{}(Compute<T>{}, Compute<T>{}))>;
  if constexpr (is_small_float<T>) {
    binary_blocks<T, R>(binary_loop<float, F>, x, x_step, y, y_step, out, n);
  } else {
    const T* __restrict a = static_cast<const T*>(x);
    const T* __restrict b = static_cast<const T*>(y);
    R* __restrict o = static_cast<R*>(out);
    if (x_step && y_step) {
      for (int64_t i = 0; i < n; ++i) o[i] = static_cast<R>(F{}(a[i], b[i]));
    } else if (x_step) {
      const T v = *b;
      for (int64_t i = 0; i < n; ++i) o[i] = static_cast<R>(F{}(a[i], v));
    } else {
      const T v = *a;
      const int64_t count = y_step ? n : 1;
      for (int64_t i = 0; i < count; ++i) o[i] = static_cast<R>(F{}(v, b[i]));
      for (int64_t i = count; i < n; ++i) o[i] = o[0];
    }
  }
}

// The same for long functions: one loop, and one value for all is spread over a buffer.
template <class T>
struct Spread {
  T buffer[kBlock];
  const T* from;
  int64_t step;
  Spread(const void* from, int64_t step) : from(static_cast<const T*>(from)), step(step) {
    if (step == 0)
      for (T& v : buffer) v = *this->from;
  }
  const T* at(int64_t i) const { return step ? from + i : buffer; }
};

template <class T, class F>
[[gnu::noinline]] void flat_binary(const T* __restrict a, const T* __restrict b, T* __restrict o, int64_t n) {
  for (int64_t i = 0; i < n; ++i) o[i] = F{}(a[i], b[i]);
}

template <class T, class F>
void long_binary_loop(const void* x, int64_t x_step, const void* y, int64_t y_step, void* out, int64_t n) {
  if constexpr (is_small_float<T>) {
    binary_blocks<T, T>(long_binary_loop<float, F>, x, x_step, y, y_step, out, n);
  } else {
    T* o = static_cast<T*>(out);
    if (x_step && y_step) return flat_binary<T, F>(static_cast<const T*>(x), static_cast<const T*>(y), o, n);
    const Spread<T> a(x, x_step), b(y, y_step);
    for (int64_t i = 0; i < n; i += kBlock)
      flat_binary<T, F>(a.at(i), b.at(i), o + i, n - i < kBlock ? n - i : kBlock);
  }
}

// ---- three inputs ----

template <class T, class R>
[[gnu::noinline]] void ternary_blocks(TernaryLoop loop, const void* x, int64_t x_step, const void* y,
                                      int64_t y_step, const void* z, int64_t z_step, void* out,
                                      int64_t count) {
  BlockOperand<T> a(x, x_step), b(y, y_step), c(z, z_step);
  over_blocks<R>(out, count, [&](int64_t i, int64_t n, void* o) {
    loop(a.at(i, n), x_step, b.at(i, n), y_step, c.at(i, n), z_step, o, n);
  });
}

template <class T, class F>
void ternary_loop(const void* x, int64_t x_step, const void* y, int64_t y_step, const void* z, int64_t z_step,
                  void* out, int64_t n) {
  using R = Stored<T, decltype(F{}(Compute<T>{}, Compute<T>{}, Compute<T>{}))>;
  if constexpr (is_small_float<T>) {
    ternary_blocks<T, R>(ternary_loop<float, F>, x, x_step, y, y_step, z, z_step, out, n);
  } else {
    const T* __restrict a = static_cast<const T*>(x);
    const T* __restrict b = static_cast<const T*>(y);
    const T* __restrict c = static_cast<const T*>(z);
    R* __restrict o = static_cast<R*>(out);
    if (x_step && !y_step && !z_step) {
      const T v = *b, w = *c;
      for (int64_t i = 0; i < n; ++i) o[i] = static_cast<R>(F{}(a[i], v, w));
    } else if (x_step && y_step && !z_step) {
      const T w = *c;
      for (int64_t i = 0; i < n; ++i) o[i] = static_cast<R>(F{}(a[i], b[i], w));
    } else {
      for (int64_t i = 0; i < n; ++i) o[i] = static_cast<R>(F{}(a[i * x_step], b[i * y_step], c[i * z_step]));
    }
  }
}

// ---- tables ----

// Calls f.operator()<T>() for each element type of the set.
template <DTypeSet kSet, class F>
void for_each_type(F&& f) {
  for (int i = 0; i < 24; ++i) dispatch<kSet>(DType(i), f);
}

// Plain arrays, so that no container is instantiated here.
template <class Row, int kCapacity>
struct Rows {
  Row rows[kCapacity + 1] = {};
  int count = 0;
  void add(Row row) {
    if (count == kCapacity) __builtin_trap();  // the capacity in the file is too small
    rows[count++] = row;
  }
  // `op` is another name of an op defined before.
  void alias(const char* op, const char* of) {
    const int end = count;
    for (int i = 0; i < end; ++i)
      if (__builtin_strcmp(rows[i].op, of) == 0) add({op, rows[i].in, rows[i].out, rows[i].loop});
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
  template <DTypeSet kSet, class F, class Fast, class Allows>
  void op_with_fast_path(const char* name, F, Fast, Allows) {
    for_each_type<kSet>([&]<class T>() {
      this->add({name, dtype_of<T>, dtype_of<T>, unary_loop_with_fast_path<T, F, Fast, Allows>});
    });
  }
  template <DTypeSet kSet, class F, class Fast, class Allows>
  void op_with_fast_blocks(const char* name, F f, Fast fast, Allows allows) {
    op_with_fast_path<kSet>(name, f, fast, allows);
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
  template <DTypeSet kSet, class F>
  void long_op(const char* name, F) {
    for_each_type<kSet>(
        [&]<class T>() { this->add({name, dtype_of<T>, dtype_of<T>, long_binary_loop<T, F>}); });
  }
};

template <int kCapacity>
struct TernaryCollector : Rows<TernaryRow, kCapacity> {
  template <DTypeSet kSet, class F>
  void op(const char* name, F) {
    for_each_type<kSet>([&]<class T>() {
      using R = Stored<T, decltype(F{}(Compute<T>{}, Compute<T>{}, Compute<T>{}))>;
      this->add({name, dtype_of<T>, dtype_of<R>, ternary_loop<T, F>});
    });
  }
};

}  // namespace
}  // namespace rw::RW_ISA
