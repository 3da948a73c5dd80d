// The optimizers' steps: one pass over the variable, its slots and the gradient.
#include "rewind/kernel/elementwise/update_defs.h"

#include "rewind/kernel/cpu/isa/indexed.h"
#include "rewind/kernel/cpu/isa/rows.h"

namespace rw::RW_ISA {
namespace {

template <class T, int kSlots, class Prepare, class Step>
void update_loop(void* const* slots, const void* grad, const void* hyper, int64_t n) {
  using C = Compute<T>;
  C h[12];
  for (int i = 0; i < 12; ++i) h[i] = static_cast<const C*>(hyper)[i];
  Prepare{}(h);
  T* __restrict var = static_cast<T*>(slots[0]);
  T* __restrict a = static_cast<T*>(kSlots > 1 ? slots[1] : nullptr);
  T* __restrict b = static_cast<T*>(kSlots > 2 ? slots[2] : nullptr);
  T* __restrict c = static_cast<T*>(kSlots > 3 ? slots[3] : nullptr);
  const T* __restrict g = static_cast<const T*>(grad);
  for (int64_t i = 0; i < n; ++i) {
    Slots<C> s;
    s.var = static_cast<C>(var[i]);
    if constexpr (kSlots > 1) s.a = static_cast<C>(a[i]);
    if constexpr (kSlots > 2) s.b = static_cast<C>(b[i]);
    if constexpr (kSlots > 3) s.c = static_cast<C>(c[i]);
    Step{}(s, static_cast<C>(g[i]), static_cast<const C*>(h));
    var[i] = static_cast<T>(s.var);
    if constexpr (kSlots > 1) a[i] = static_cast<T>(s.a);
    if constexpr (kSlots > 2) b[i] = static_cast<T>(s.b);
    if constexpr (kSlots > 3) c[i] = static_cast<T>(s.c);
  }
}

struct Collector : Rows<UpdateRow, 200> {
  template <int kSlots, class Prepare, class Step>
  void op(const char* name, int variant, Prepare, Step) {
    for_each_type<kFloatTypes>(
        [&]<class T>() { this->add({name, variant, dtype_of<T>, update_loop<T, kSlots, Prepare, Step>}); });
  }
};

}  // namespace

const UpdateRow* update_rows() {
  static constinit Collector rows;
  if (rows.count == 0) visit_updates(rows);
  return rows.rows;
}

}  // namespace rw::RW_ISA
