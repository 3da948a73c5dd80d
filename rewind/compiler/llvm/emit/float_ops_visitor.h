// A visitor of kernel/elementwise that makes each float definition an emitter.
#pragma once

#include "rewind/compiler/llvm/emit/ir_value.h"
// The line between keeps the order: qualified names in the definitions see only what stands before them.
#include <utility>
#include <vector>

#include "rewind/compiler/llvm/emit/float_ops.h"
#include "rewind/kernel/elementwise/visit.h"

namespace rw::emit {

class FloatOpCollector {
 public:
  FloatOpCollector(std::vector<FloatOp>& ops, bool inlined) : ops_(ops), inlined_(inlined) {}

  template <DTypeSet kSet, class F>
  void op(const char* name, F) {
    if constexpr (contains(kSet, DType::kFloat32)) add<F>(name, inlined_);
  }
  template <DTypeSet kSet, class F>
  void long_op(const char* name, F) {
    if constexpr (contains(kSet, DType::kFloat32)) add<F>(name, false);
  }
  template <DTypeSet kSet, class F, class Fast, class Allows>
  void op_with_fast_path(const char* name, F, Fast, Allows) {
    ops_.push_back(
        {name, 1, false, false, {both_paths<float, F, Fast, Allows>, both_paths<double, F, Fast, Allows>}});
  }
  template <DTypeSet kSet, class F, class Fast, class Allows>
  void op_with_fast_blocks(const char* name, F f, Fast, Allows) {
    op<kSet>(name, f);
  }
  void alias(const char* name, const char* of) {
    const size_t end = ops_.size();
    for (size_t i = 0; i < end; ++i) {
      if (std::string_view(ops_[i].name) != of) continue;
      FloatOp copy = ops_[i];
      copy.name = name;
      ops_.push_back(copy);
    }
  }

 private:
  template <class F>
  using Ir = scalar::IrFloat<F>;

  template <class F>
  static constexpr int arity() {
    if constexpr (std::is_invocable_v<F, float>) return 1;
    else if constexpr (std::is_invocable_v<F, float, float>) return 2;
    else return 3;
  }

  template <class T, class F, size_t... I>
  static Value* emit_as(Value* const* args, std::index_sequence<I...>) {
    return F{}(Ir<T>::of(args[I])...).v;
  }
  template <class T, class F>
  static Value* emit(Value* const* args) {
    return emit_as<T, F>(args, std::make_index_sequence<size_t(arity<F>())>());
  }
  template <class T, class F, class Fast, class Allows>
  static Value* both_paths(Value* const* args) {
    const Ir<T> x = Ir<T>::of(args[0]);
    return branch_if_all(Allows{}(x).v, [&] { return Fast{}(x).v; }, [&] { return F{}(x).v; });
  }

  template <class F>
  void add(const char* name, bool inlined) {
    const bool calls = std::string_view(name) == "SoftplusGrad" || std::string_view(name) == "Betainc";
    constexpr int kArity = arity<F>();
    const bool is_bool = [&]<size_t... I>(std::index_sequence<I...>) {
      return std::is_same_v<decltype(F{}((static_cast<void>(I), float{})...)), bool>;
    }(std::make_index_sequence<size_t(kArity)>());
    ops_.push_back({name, kArity, inlined && !calls, is_bool, {emit<float, F>, emit<double, F>}});
  }

  std::vector<FloatOp>& ops_;
  const bool inlined_;
};

}  // namespace rw::emit
