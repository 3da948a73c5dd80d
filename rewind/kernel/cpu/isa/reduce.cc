// Loops of the reductions. The order of the operations is part of the definition: it depends on the number of
// elements and their type alone, never on the instruction set, so vectors here are always 64 bytes and a
// machine with narrower registers does them in pieces.
//
// A run of n elements along the last axis:
//   n <= 16         one after the other
//   n < 8 lanes     element i goes to lane i % lanes (64 bytes of accumulators), then the lanes fold in
//   halves otherwise       four such vectors in turn, v0 + v2 and v1 + v3 first
// Columns: row after row.
#include <cstring>
#include <limits>

#include "rewind/base/math/primitives.h"
#include "rewind/kernel/cpu/isa/reduce.h"
#include "rewind/kernel/cpu/isa/rows.h"

namespace rw::RW_ISA {
namespace {

struct Add {
  template <class C>
  static constexpr C identity() {
    return C(0);
  }
  template <class C, class V>
  [[gnu::always_inline]] static void apply(V& a, const V& x) {
    a = a + x;
  }
};

struct AddSquare : Add {};

// Sums of integers in 64 bits, for their mean.
struct AddWide : Add {};

template <class T, class F>
struct AccumulatorOf {
  using Type = Compute<T>;
};
template <class T>
struct AccumulatorOf<T, AddWide> {
  using Type = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
};
template <class T, class F>
using Accumulator = typename AccumulatorOf<T, F>::Type;

struct Multiply {
  template <class C>
  static constexpr C identity() {
    return C(1);
  }
  template <class C, class V>
  [[gnu::always_inline]] static void apply(V& a, const V& x) {
    a = a * x;
  }
};

// NaN wins, whichever side it comes from.
struct Largest {
  template <class C>
  static constexpr C identity() {
    if constexpr (std::is_floating_point_v<C>) return -std::numeric_limits<C>::infinity();
    else return std::numeric_limits<C>::lowest();
  }
  template <class C, class V>
  [[gnu::always_inline]] static void apply(V& a, const V& x) {
    a = x > a ? x : a;
    if constexpr (std::is_floating_point_v<C>) a = x != x ? x : a;
  }
};

struct Smallest {
  template <class C>
  static constexpr C identity() {
    if constexpr (std::is_floating_point_v<C>) return std::numeric_limits<C>::infinity();
    else return std::numeric_limits<C>::max();
  }
  template <class C, class V>
  [[gnu::always_inline]] static void apply(V& a, const V& x) {
    a = x < a ? x : a;
    if constexpr (std::is_floating_point_v<C>) a = x != x ? x : a;
  }
};

struct Or {
  template <class C>
  static constexpr C identity() {
    return C(0);
  }
  template <class C, class V>
  [[gnu::always_inline]] static void apply(V& a, const V& x) {
    a = a | x;
  }
};

struct And {
  template <class C>
  static constexpr C identity() {
    return C(1);
  }
  template <class C, class V>
  [[gnu::always_inline]] static void apply(V& a, const V& x) {
    a = a & x;
  }
};

template <class C, size_t kBytes>
struct VectorOf {
  typedef C Type __attribute__((vector_size(kBytes)));
};
template <class C>
using Vector = typename VectorOf<C, 64>::Type;
template <class C>
inline constexpr int64_t kLanes = 64 / sizeof(C);

// The largest and the smallest are chosen by comparisons: see base/math/primitives.h.
template <class F, class C>
[[gnu::always_inline]] inline C finished(C x) {
  if constexpr (std::is_floating_point_v<C> && (std::is_same_v<F, Largest> || std::is_same_v<F, Smallest>))
    return scalar::flushed(x);
  else return x;
}

template <class T, class F>
[[gnu::always_inline]] inline Accumulator<T, F> load(T x) {
  using C = Accumulator<T, F>;
  const C c = static_cast<C>(x);
  if constexpr (std::is_same_v<F, AddSquare>) return C(c * c);
  else return c;
}

template <class T, class F>
[[gnu::always_inline]] inline void load_vector(Vector<Accumulator<T, F>>& v, const T* x) {
  using C = Accumulator<T, F>;
  if constexpr (std::is_same_v<T, C>) {
    std::memcpy(&v, x, sizeof(v));
  } else {
    C wide[kLanes<C>];
    for (int64_t i = 0; i < kLanes<C>; ++i) wide[i] = static_cast<C>(x[i]);
    std::memcpy(&v, wide, sizeof(v));
  }
  if constexpr (std::is_same_v<F, AddSquare>) v = v * v;
}

template <class C, class F, size_t kBytes>
[[gnu::always_inline]] inline C fold(const void* vector) {
  if constexpr (kBytes == sizeof(C)) {
    C c;
    std::memcpy(&c, vector, sizeof(C));
    return c;
  } else {
    using Half = typename VectorOf<C, kBytes / 2>::Type;
    Half low, high;
    std::memcpy(&low, vector, kBytes / 2);
    std::memcpy(&high, static_cast<const char*>(vector) + kBytes / 2, kBytes / 2);
    F::template apply<C>(low, high);
    return fold<C, F, kBytes / 2>(&low);
  }
}

template <class T, class F>
[[gnu::always_inline]] inline Accumulator<T, F> reduce_run(const T* x, int64_t n) {
  using C = Accumulator<T, F>;
  using V = Vector<C>;
  constexpr int64_t kL = kLanes<C>;
  constexpr C kIdentity = F::template identity<C>();
  if (n <= 16) {
    C a = kIdentity;
    for (int64_t i = 0; i < n; ++i) F::template apply<C>(a, load<T, F>(x[i]));
    return a;
  }
  V a0 = kIdentity - V{};
  int64_t i = 0;
  V v;
  if (n >= 8 * kL) {
    V a1 = a0, a2 = a0, a3 = a0;
    for (; i + 4 * kL <= n; i += 4 * kL) {
      load_vector<T, F>(v, x + i);
      F::template apply<C>(a0, v);
      load_vector<T, F>(v, x + i + kL);
      F::template apply<C>(a1, v);
      load_vector<T, F>(v, x + i + 2 * kL);
      F::template apply<C>(a2, v);
      load_vector<T, F>(v, x + i + 3 * kL);
      F::template apply<C>(a3, v);
    }
    F::template apply<C>(a0, a2);
    F::template apply<C>(a1, a3);
    F::template apply<C>(a0, a1);
  }
  for (; i + kL <= n; i += kL) {
    load_vector<T, F>(v, x + i);
    F::template apply<C>(a0, v);
  }
  if (i < n) {
    C rest[kL];
    for (int64_t k = 0; k < kL; ++k) rest[k] = kIdentity;
    for (int64_t k = 0; i + k < n; ++k) rest[k] = load<T, F>(x[i + k]);
    std::memcpy(&v, rest, sizeof(v));
    F::template apply<C>(a0, v);
  }
  return fold<C, F, 64>(&a0);
}

template <class T, class F>
void row_loop(const void* x, int64_t stride, int64_t n, int64_t count, void* out) {
  const T* a = static_cast<const T*>(x);
  auto* o = static_cast<Accumulator<T, F>*>(out);
  for (int64_t i = 0; i < count; ++i) o[i] = finished<F>(reduce_run<T, F>(a + i * stride, n));
}

// kRows rows, one after the other, onto the accumulators, or onto new ones for the `first`. Meanwhile what
// lies `ahead` elements behind them is fetched.
template <class T, class F, int64_t kRows>
[[gnu::always_inline]] inline void add_rows(const T* a, int64_t row_stride, int64_t columns, int64_t ahead,
                                            bool first, Accumulator<T, F>* o) {
  using C = Accumulator<T, F>;
  using V = Vector<C>;
  constexpr C kIdentity = F::template identity<C>();
  for (int64_t c = 0; c + kLanes<C> <= columns; c += kLanes<C>) {
    V v = kIdentity - V{}, x;
    if (!first) std::memcpy(&v, o + c, sizeof(v));
    for (int64_t r = 0; r < kRows; ++r) {
      if constexpr (kRows > 1) __builtin_prefetch(a + r * row_stride + c + ahead, 0, 2);
      load_vector<T, F>(x, a + r * row_stride + c);
      F::template apply<C>(v, x);
    }
    std::memcpy(o + c, &v, sizeof(v));
  }
}

// The columns behind the last whole vector.
template <class T, class F>
[[gnu::noinline]] void add_last_columns(const T* a, int64_t row_stride, int64_t rows, int64_t columns,
                                        Accumulator<T, F>* o) {
  using C = Accumulator<T, F>;
  for (int64_t c = 0; c < columns; ++c) o[c] = F::template identity<C>();
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) F::template apply<C>(o[c], load<T, F>(a[r * row_stride + c]));
}

template <class T, class F>
void column_loop(const void* x, int64_t row_stride, int64_t rows, int64_t columns, void* out) {
  constexpr int64_t kLong = 16384;  // bytes of a row from which on processors do not foresee the next one
  constexpr int64_t kL = kLanes<Accumulator<T, F>>;
  const T* a = static_cast<const T*>(x);
  auto* o = static_cast<Accumulator<T, F>*>(out);
  const int64_t ahead = columns * int64_t(sizeof(T)) >= kLong ? 8 * row_stride : 0;
  const int64_t whole = columns / kL * kL;
  int64_t r = 0;
  for (; r + 8 <= rows; r += 8) add_rows<T, F, 8>(a + r * row_stride, row_stride, whole, ahead, r == 0, o);
  for (; r < rows; ++r) add_rows<T, F, 1>(a + r * row_stride, row_stride, whole, 0, r == 0, o);
  add_last_columns<T, F>(a + whole, row_stride, rows, columns - whole, o + whole);
  if constexpr (std::is_same_v<F, Largest> || std::is_same_v<F, Smallest>)
    for (int64_t c = 0; c < columns; ++c) o[c] = finished<F>(o[c]);
}

using Collector = Rows<ReduceRow, 80>;

template <class F, DTypeSet kSet>
void collect(Collector& rows, const char* name) {
  for_each_type<kSet>([&]<class T>() { rows.add({name, dtype_of<T>, row_loop<T, F>, column_loop<T, F>}); });
}

}  // namespace

const ReduceRow* reduce_rows() {
  static constinit Collector rows;
  if (rows.count == 0) {
    collect<Add, kRealTypes>(rows, "Sum");
    collect<AddWide, kIntTypes>(rows, "WideSum");
    collect<AddSquare, kRealTypes>(rows, "EuclideanNorm");
    collect<Multiply, kRealTypes>(rows, "Prod");
    collect<Largest, kRealTypes>(rows, "Max");
    collect<Smallest, kRealTypes>(rows, "Min");
    rows.add({"Any", DType::kBool, row_loop<uint8_t, Or>, column_loop<uint8_t, Or>});
    rows.add({"All", DType::kBool, row_loop<uint8_t, And>, column_loop<uint8_t, And>});
  }
  return rows.rows;
}

}  // namespace rw::RW_ISA
