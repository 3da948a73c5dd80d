// Branches on tensors. Eagerly they are plain C++: the branch that is meant runs. In a trace both are traced
// and become an If (or a Case) of the graph, whose results are what the taken branch gives.
//
//   rw::Tensor y = rw::cond(x > 0.0, [&] { return x * 2.0; }, [&] { return -x; });
//
// Branches return tensors in any structure (vectors, tuples, maps, structs), all branches the same one.
#pragma once

#include <functional>

#include "rewind/base/function_ref.h"
#include "rewind/function/staged.h"
#include "rewind/tensor/operand.h"

namespace rw {

namespace detail {

using BranchFn = FunctionRef<void(NestWriter&)>;
// Whether C++ can choose the branch now; a choice that cannot be made is staged.
bool can_branch(const Tensor& selector);
bool predicate_value(const Tensor& predicate);
// Of `count` branches, the one that switch_case takes: the last for an index outside.
size_t branch_at(const Tensor& index, size_t count);
TensorList stage_cond(const Tensor& predicate, BranchFn then_branch, BranchFn else_branch);
TensorList stage_case(const Tensor& index, std::span<const BranchFn> branches);
[[noreturn]] void fail_branches(const char* what, const std::string& rule);
// Assertions: at most one is true; at least one is.
void require_exclusive(const std::vector<Tensor>& predicates);
void require_one_true(const std::vector<Tensor>& predicates);

// Runs a branch while it is traced; keeps the first branch's structure.
template <class R, class F>
auto tracer(F& f, std::optional<R>* prototype) {
  return [&f, prototype](NestWriter& writer) {
    R result = staged::fit<R>(f());
    Nest<R>::write(result, writer);
    if (!*prototype) prototype->emplace(std::move(result));
  };
}
template <class R>
R read_result(const std::optional<R>& prototype, const TensorList& tensors) {
  NestReader reader{tensors.data()};
  return Nest<R>::read(*prototype, reader);
}

}  // namespace detail

// true_fn() or false_fn(). The predicate has one element; numbers are true unless they are 0.
template <class Then, class Else>
auto cond(const Operand& pred, Then&& true_fn, Else&& false_fn) {
  using A = std::invoke_result_t<Then&>;
  using B = std::invoke_result_t<Else&>;
  const Tensor& predicate = pred.tensor();
  const bool now = detail::can_branch(predicate);
  if constexpr (std::is_void_v<A> || std::is_void_v<B>) {
    static_assert(std::is_void_v<A> && std::is_void_v<B>, "both branches must return the same structure");
    if (now) return detail::predicate_value(predicate) ? true_fn() : false_fn();
    detail::stage_cond(predicate, [&](NestWriter&) { true_fn(); }, [&](NestWriter&) { false_fn(); });
  } else {
    using R = typename staged::Common<A, B>::type;
    if (now)
      return detail::predicate_value(predicate) ? staged::fit<R>(true_fn()) : staged::fit<R>(false_fn());
    std::optional<R> prototype;
    auto then_branch = detail::tracer<R>(true_fn, &prototype);
    auto else_branch = detail::tracer<R>(false_fn, &prototype);
    return detail::read_result(prototype, detail::stage_cond(predicate, then_branch, else_branch));
  }
}

// branch_fns[branch_index](); the default, or without one the last branch, for an index outside.
template <class R = Tensor>
R switch_case(const Operand& branch_index,
              const std::vector<std::type_identity_t<std::function<R()>>>& branch_fns,
              const std::type_identity_t<std::function<R()>>& default_fn = {}) {
  std::vector<std::function<R()>> all = branch_fns;
  if (default_fn) all.push_back(default_fn);
  if (all.empty()) detail::fail_branches("switch_case", "there must be at least one branch");
  const Tensor& index = branch_index.tensor();
  if (detail::can_branch(index)) return all[detail::branch_at(index, all.size())]();
  std::optional<R> prototype;
  std::vector<decltype(detail::tracer<R>(all[0], &prototype))> tracers;
  for (std::function<R()>& f : all) tracers.push_back(detail::tracer<R>(f, &prototype));
  const std::vector<detail::BranchFn> branches(tracers.begin(), tracers.end());
  return detail::read_result(prototype, detail::stage_case(index, branches));
}

struct CaseOptions {
  bool exclusive = false;  // more than one true predicate is an error
};

// The function beside the first predicate that is true; else the default, without which it is an error.
template <class R = Tensor>
R case_(const std::vector<std::pair<Tensor, std::type_identity_t<std::function<R()>>>>& pred_fn_pairs,
        const std::type_identity_t<std::function<R()>>& default_fn = {}, const CaseOptions& options = {}) {
  if (pred_fn_pairs.empty()) detail::fail_branches("case", "there must be at least one predicate");
  std::vector<Tensor> predicates;
  for (const auto& pair : pred_fn_pairs) predicates.push_back(pair.first);
  if (options.exclusive) detail::require_exclusive(predicates);
  if (!default_fn) detail::require_one_true(predicates);
  // Without a default the last function stands for it: the check says that some predicate is true.
  std::function<R()> rest = default_fn;
  size_t n = pred_fn_pairs.size();
  if (!rest) rest = pred_fn_pairs[--n].second;
  while (n-- > 0) rest = [&pair = pred_fn_pairs[n], rest] { return cond(pair.first, pair.second, rest); };
  return rest();
}

}  // namespace rw
