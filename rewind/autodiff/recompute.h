// Less memory for more time: derivatives of such a call keep its inputs only and compute the rest again.
//
//   auto block = rw::recompute_grad([&](const rw::Tensor& x) { return rw::nn::relu(rw::matmul(x, w)); });
//   auto y = block(x);                // as without it, bit for bit, and so are the gradients
//
//   auto f = rw::checkpointable(layer);
//   y = f(x);                         // plainly
//   y = f.checkpoint(x);              // computed again by derivatives
//
// The user's code runs once: what is taken again are its ops. Changes of state, prints and random draws
// happen once; values that were read from variables, and the counters of draws, are kept. Arguments may be
// anything. Results are tensors in any structure of vectors, arrays, tuples, maps, optionals and plain
// structs, beside other values; tensors that leave the call in another way have no gradient with respect to
// what is in it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "rewind/autodiff/tensors_in.h"
#include "rewind/tensor/variable.h"

namespace rw {

struct CheckpointOptions {
  // Variables that the tapes watch besides those that they find by themselves.
  std::vector<Variable> watch_vars = {};
  // rw::random::set_seed(*force_seed) before the call. Not needed for the gradients' sake.
  std::optional<int64_t> force_seed = {};
};

namespace detail {

// Around a call: ops on this thread are one step for the tapes, to be computed again by derivatives.
class RecomputeScope {
 public:
  explicit RecomputeScope(const CheckpointOptions& options = {});
  ~RecomputeScope();  // without finish() the tapes hear nothing of it
  RecomputeScope(const RecomputeScope&) = delete;
  RecomputeScope& operator=(const RecomputeScope&) = delete;
  // The call's results, which it may replace by others of the same value.
  void finish(std::vector<Tensor>& results);

 private:
  struct State;
  std::unique_ptr<State> state_;  // nullptr: nobody needs it
};

template <class F, class... A>
auto recompute_call(const CheckpointOptions& options, F& f, A&&... args) {
  using R = std::remove_cvref_t<std::invoke_result_t<F&, A...>>;
  if constexpr (std::is_void_v<R>) {
    std::invoke(f, std::forward<A>(args)...);
  } else {
    static_assert(HasTensors<R>,
                  "[recompute_grad] results must be tensors in vectors, arrays, tuples, maps, optionals or "
                  "plain structs");
    RecomputeScope scope(options);
    R result = std::invoke(f, std::forward<A>(args)...);
    std::vector<Tensor> tensors;
    auto take = [&](Tensor& t) { tensors.push_back(t); };
    for_each_tensor(result, take);
    scope.finish(tensors);
    auto next = tensors.begin();
    auto put = [&](Tensor& t) { t = *next++; };
    for_each_tensor(result, put);
    return result;
  }
}

// Modules are objects with variables of their own: they are used where they are. Other callables are copied.
template <class F>
concept IsModule = requires(F& f) {
  f.identity();
  f.trainable_variables();
};
template <class F>
using HeldCallable = std::conditional_t<std::is_lvalue_reference_v<F> && IsModule<F>,
                                        std::reference_wrapper<std::remove_reference_t<F>>, std::decay_t<F>>;

}  // namespace detail

template <class F>
class RecomputeGrad {
 public:
  explicit RecomputeGrad(F f) : f_(std::make_shared<F>(std::move(f))) {}
  template <class... A>
    requires std::is_invocable_v<F&, A...>
  auto operator()(A&&... args) const {
    return detail::recompute_call({}, *f_, std::forward<A>(args)...);
  }

 private:
  std::shared_ptr<F> f_;
};

template <class F>
class Checkpointable {
 public:
  explicit Checkpointable(F f) : f_(std::make_shared<F>(std::move(f))) {}
  template <class... A>
    requires std::is_invocable_v<F&, A...>
  decltype(auto) operator()(A&&... args) const {
    return std::invoke(*f_, std::forward<A>(args)...);
  }
  template <class... A>
    requires std::is_invocable_v<F&, A...>
  auto checkpoint(A&&... args) const {
    return detail::recompute_call({}, *f_, std::forward<A>(args)...);
  }
  // f.checkpoint({.watch_vars = layer.trainable_variables()}, x).
  template <class... A>
    requires std::is_invocable_v<F&, A...>
  auto checkpoint(const CheckpointOptions& options, A&&... args) const {
    return detail::recompute_call(options, *f_, std::forward<A>(args)...);
  }

 private:
  std::shared_ptr<F> f_;
};

template <class F>
RecomputeGrad<detail::HeldCallable<F>> recompute_grad(F&& f) {
  return RecomputeGrad<detail::HeldCallable<F>>(std::forward<F>(f));
}
template <class F>
Checkpointable<detail::HeldCallable<F>> checkpointable(F&& f) {
  return Checkpointable<detail::HeldCallable<F>>(std::forward<F>(f));
}

}  // namespace rw
