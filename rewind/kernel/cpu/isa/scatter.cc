// Rows of updates combined into rows of an array that indices choose.
#include "rewind/base/math/primitives.h"
#include "rewind/kernel/cpu/isa/indexed.h"
#include "rewind/kernel/cpu/isa/rows.h"

namespace rw::RW_ISA {
namespace {

// What a comparison chose from its operands: see base/math/primitives.h.
template <class C>
[[gnu::always_inline]] inline C chosen(C x) {
  if constexpr (std::is_floating_point_v<C>) return scalar::flushed(x);
  else return x;
}

// Where a and x are compared and one is NaN: scatters keep what is there, segments take the newcomer.
struct Combine {
  struct Add {
    template <class C>
    C operator()(C a, C x) const {
      return C(a + x);
    }
  };
  struct Sub {
    template <class C>
    C operator()(C a, C x) const {
      return C(a - x);
    }
  };
  struct Mul {
    template <class C>
    C operator()(C a, C x) const {
      return C(a * x);
    }
  };
  struct Div {
    template <class C>
    C operator()(C a, C x) const {
      // The least integer by -1 would trap; it wraps instead. A zero is refused before.
      if constexpr (std::is_signed_v<C> && std::is_integral_v<C>) return x == C(-1) ? C(-a) : C(a / x);
      else return C(a / x);
    }
  };
  struct Min {
    template <class C>
    C operator()(C a, C x) const {
      return chosen(x < a ? x : a);
    }
  };
  struct Max {
    template <class C>
    C operator()(C a, C x) const {
      return chosen(a < x ? x : a);
    }
  };
  struct SegmentMin {
    template <class C>
    C operator()(C a, C x) const {
      return chosen(a < x ? a : x);
    }
  };
  struct SegmentMax {
    template <class C>
    C operator()(C a, C x) const {
      return chosen(a > x ? a : x);
    }
  };
};

// A: type of the accumulator, T: of the updates.
template <class A, class T, class F>
void scatter_loop(void* target, const void* updates, const ScatterSpan& s) {
  using C = Compute<T>;
  A* __restrict to = static_cast<A*>(target);
  const T* __restrict from = static_cast<const T*>(updates);
  const uint64_t rows = uint64_t(s.row_end - s.row_begin);
  if (s.columns == 1) {
    for (int64_t k = 0; k < s.count; ++k) {
      const int64_t row = s.index[k];
      if (uint64_t(row - s.row_begin) >= rows) continue;
      to[row] = static_cast<A>(F{}(static_cast<C>(to[row]), static_cast<C>(from[k * s.update_step])));
    }
    return;
  }
  for (int64_t k = 0; k < s.count; ++k) {
    const int64_t row = s.index[k];
    if (uint64_t(row - s.row_begin) >= rows) continue;
    A* __restrict a = to + row * s.columns;
    const T* __restrict x = from + k * s.update_step;
    for (int64_t c = s.column_begin; c < s.column_end; ++c)
      a[c] = static_cast<A>(F{}(static_cast<C>(a[c]), static_cast<C>(x[c])));
  }
}

struct Collector : Rows<ScatterRow, 12 * 8> {
  template <class F>
  void op(ScatterKind kind) {
    for_each_type<kRealTypes>([&]<class T>() {
      this->add({kind, dtype_of<T>, scatter_loop<T, T, F>, scatter_loop<Compute<T>, T, F>});
    });
  }
};

}  // namespace

const ScatterRow* scatter_rows() {
  static constinit Collector rows;
  if (rows.count == 0) {
    rows.op<Combine::Add>(ScatterKind::kAdd);
    rows.op<Combine::Sub>(ScatterKind::kSub);
    rows.op<Combine::Mul>(ScatterKind::kMul);
    rows.op<Combine::Div>(ScatterKind::kDiv);
    rows.op<Combine::Min>(ScatterKind::kMin);
    rows.op<Combine::Max>(ScatterKind::kMax);
    rows.op<Combine::SegmentMin>(ScatterKind::kSegmentMin);
    rows.op<Combine::SegmentMax>(ScatterKind::kSegmentMax);
  }
  return rows.rows;
}

}  // namespace rw::RW_ISA
