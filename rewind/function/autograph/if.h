// if (x > 0) {...} else {...} on tensors:
//
//   for (rw::autograph::If s(x > 0.0, rw::autograph::state(x, y), "x, y"); s.next();)
//     if (s.branch()) {...} else {...}
//
// On the host one branch runs. A traced condition runs both, each in a graph of its own and from the same
// state, and becomes an If.
#pragma once

#include "rewind/function/autograph/local.h"
#include "rewind/function/autograph/state.h"

namespace rw::autograph {
namespace detail {

class StagedIf;
struct EndIf {
  void operator()(StagedIf* staged) const;
};
using StagedIfPtr = std::unique_ptr<StagedIf, EndIf>;

// Whether C++ does not decide: in a trace, or over a batch whose elements decide each for itself.
bool is_staged(const Tensor& predicate);
StagedIfPtr stage_if(const Tensor& predicate, const State& state);
bool next_branch(StagedIf& staged);  // false when both ran
bool then_branch(const StagedIf& staged);

// One value as a scalar bool of the graph.
Tensor scalar_truth(const Tensor& predicate);

template <class C>
inline constexpr bool is_tensor =
    std::is_same_v<std::remove_cvref_t<C>, Tensor> || std::is_same_v<std::remove_cvref_t<C>, Variable>;

}  // namespace detail

// `names`: of the state's variables, "x, (t), total", for messages; one in parentheses is not read behind.
template <class S>
class If {
 public:
  template <class C>
  If(const C& condition, const S& state, std::string_view names = {}) {
    if constexpr (detail::is_tensor<C>) {
      const Operand operand(condition);
      const Tensor& predicate = operand.tensor();
      if (detail::is_staged(predicate)) stage(predicate, state, names);
      else branch_ = bool(predicate);
    } else if constexpr (detail::is_local<C>) {
      if (condition.staged()) [[unlikely]]
        stage(condition.tensor(), state, names);
      else branch_ = bool(condition.host());
    } else {
      branch_ = bool(condition);
    }
  }
  If(const If&) = delete;
  If& operator=(const If&) = delete;

  // Whether the body runs, or runs once more.
  bool next() {
    if (staged_) [[unlikely]]
      return detail::next_branch(*staged_);
    return !std::exchange(done_, true);
  }
  // Whether it runs as the first branch.
  bool branch() const {
    if (staged_) [[unlikely]]
      return detail::then_branch(*staged_);
    return branch_;
  }

 private:
  void stage(const Tensor& predicate, const S& state, std::string_view names) {
    state_.emplace(state);
    staged_ = detail::stage_if(predicate, state_->view(names));
  }
  bool branch_ = false, done_ = false;
  std::optional<S> state_;
  detail::StagedIfPtr staged_;
};
template <class C, class S, class... N>
If(const C&, const S&, N...) -> If<S>;

}  // namespace rw::autograph
