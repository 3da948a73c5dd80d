// A visitor of kernel/elementwise that makes each definition a function on single values.
#pragma once

#include <cstring>
#include <utility>
#include <vector>

#include "rewind/base/dispatch.h"
#include "rewind/compiler/loop/scalar_ops.h"
#include "rewind/kernel/elementwise/visit.h"

namespace rw::loop {

template <class T>
T from_slot(uint64_t slot) {
  T value;
  std::memcpy(static_cast<void*>(&value), &slot, sizeof(T));
  return value;
}
template <class T>
uint64_t to_slot(T value) {
  uint64_t slot = 0;
  std::memcpy(&slot, static_cast<const void*>(&value), sizeof(T));
  return slot;
}

class ScalarOpCollector {
 public:
  explicit ScalarOpCollector(std::vector<ScalarOp>& ops) : ops_(ops) {}

  template <DTypeSet kSet, class F>
  void op(const char* name, F) {
    for (int i = 0; i < 24; ++i) dispatch<kSet>(DType(i), [&]<class T>() { add<T, F>(name); });
  }
  template <DTypeSet kSet, class F>
  void long_op(const char* name, F f) {
    op<kSet>(name, f);
  }
  template <DTypeSet kSet, class F, class Fast, class Allows>
  void op_with_fast_path(const char* name, F f, Fast, Allows) {
    op<kSet>(name, f);
  }
  template <DTypeSet kSet, class F, class Fast, class Allows>
  void op_with_fast_blocks(const char* name, F f, Fast, Allows) {
    op<kSet>(name, f);
  }
  void alias(const char* name, const char* of) {
    const size_t end = ops_.size();
    for (size_t i = 0; i < end; ++i) {
      if (ops_[i].name != of) continue;
      ScalarOp copy = ops_[i];
      copy.name = name;
      ops_.push_back(copy);
    }
  }

 private:
  template <class F, class C>
  static constexpr int arity() {
    if constexpr (std::is_invocable_v<F, C>) return 1;
    else if constexpr (std::is_invocable_v<F, C, C>) return 2;
    else return 3;
  }

  // Shared between float and the 16-bit floats.
  template <class F, class... C>
  [[gnu::noinline]] static auto compute(C... args) {
    return F{}(args...);
  }

  template <class T, class F>
  void add(const char* name) {
    using C = Compute<T>;
    constexpr int kArity = arity<F, C>();
    [&]<size_t... I>(std::index_sequence<I...>) {
      using Raw = decltype(F{}((static_cast<void>(I), C{})...));
      using R = std::conditional_t<std::is_same_v<Raw, bool> || std::is_same_v<Raw, uint8_t>, Raw, T>;
      ops_.push_back({name, dtype_of<T>, dtype_of<R>, kArity, [](const uint64_t* args) {
                        return to_slot(static_cast<R>(compute<F>(static_cast<C>(from_slot<T>(args[I]))...)));
                      }});
    }(std::make_index_sequence<size_t(kArity)>());
  }

  std::vector<ScalarOp>& ops_;
};

}  // namespace rw::loop
