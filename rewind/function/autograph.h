// Plain C++ control flow on tensors, as graph control flow: the code that rewind-autograph writes in place of
// if, while and for, and that can be written by hand. A body stays where it is, driven by an object that runs
// it as often as staging needs:
//
//   for (rw::autograph::If s(reduce_mean(x) > 0, rw::autograph::state(x)); s.next();)
//     if (s.branch()) { x = x * 2; } else { x = x - 1; }
//
//   for (rw::autograph::While s(rw::autograph::state(n, k)); s.open() && s.condition(n > 1); s.step()) {
//     n = n / 2;
//     k = k + 1;
//   }
//
// Eagerly, and on conditions of the host's, this is plain control flow. While a function is traced, both
// branches run once, each in a graph of its own and from the same state, and become an If; a loop's condition
// and body run once and become a While. `state` names the variables that the bodies change and that are read
// behind them (tensors in any structure); they hold the results then. Bodies must run to their end: no break,
// continue or return out of them. An exception leaves the variables as they were.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "rewind/function/while_loop.h"

namespace rw::autograph {

// The variables of the user that a construct may change.
class State {
 public:
  virtual ~State() = default;
  virtual size_t size() const = 0;
  virtual void write(size_t variable, NestWriter& writer) const = 0;
  // Other tensors in the places of those that the variable holds now.
  virtual void read(size_t variable, NestReader& reader) = 0;
  virtual void save() = 0;
  virtual void restore() = 0;
};

template <class... T>
class StateOf final : public State {
 public:
  explicit StateOf(T&... variables) : variables_(variables...) {}
  size_t size() const override { return sizeof...(T); }
  void write(size_t i, NestWriter& writer) const override {
    at(variables_, i, [&](auto& v) { Nest<std::remove_cvref_t<decltype(v)>>::write(v, writer); });
  }
  void read(size_t i, NestReader& reader) override {
    at(variables_, i, [&](auto& v) { v = Nest<std::remove_cvref_t<decltype(v)>>::read(v, reader); });
  }
  void save() override { saved_.emplace(variables_); }
  void restore() override { variables_ = *saved_; }

 private:
  template <class Tuple, class F>
  static void at(Tuple& variables, size_t i, F f) {
    size_t place = 0;
    std::apply([&](auto&... v) { ((place++ == i ? f(v) : void()), ...); }, variables);
  }
  std::tuple<T&...> variables_;
  std::optional<std::tuple<T...>> saved_;
};

template <class... T>
StateOf<T...> state(T&... variables) {
  return StateOf<T...>(variables...);
}

namespace detail {

class StagedIf;
class StagedWhile;
struct EndIf {
  void operator()(StagedIf* staged) const;
};
struct EndWhile {
  void operator()(StagedWhile* staged) const;
};
using StagedIfPtr = std::unique_ptr<StagedIf, EndIf>;
using StagedWhilePtr = std::unique_ptr<StagedWhile, EndWhile>;

// Whether C++ cannot decide: a trace, or a batch whose elements decide each for itself.
bool is_staged(const Tensor& predicate);
StagedIfPtr stage_if(const Tensor& predicate, State& state, std::string_view names);
bool next_branch(StagedIf& staged);  // false when both ran
bool then_branch(const StagedIf& staged);

bool loops_are_staged(const State& state);
StagedWhilePtr stage_while(State& state, const WhileLoopOptions& options, std::string_view names);
bool open_loop(StagedWhile& staged);
bool close_condition(StagedWhile& staged, const Tensor& condition);  // whether the body runs
void close_body(StagedWhile& staged);

template <class C>
inline constexpr bool is_tensor =
    std::is_same_v<std::remove_cvref_t<C>, Tensor> || std::is_same_v<std::remove_cvref_t<C>, Variable>;

}  // namespace detail

// `names`: of the state's variables, "x, total", for messages.
template <class S>
class If {
 public:
  template <class C>
  If(const C& condition, S state, std::string_view names = {}) : state_(std::move(state)) {
    if constexpr (detail::is_tensor<C>) {
      const Tensor& predicate = Operand(condition).tensor();
      if (detail::is_staged(predicate)) staged_ = detail::stage_if(predicate, state_, names);
      else branch_ = bool(predicate);
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
  bool branch() const { return staged_ ? detail::then_branch(*staged_) : branch_; }

 private:
  S state_;
  bool branch_ = false, done_ = false;
  detail::StagedIfPtr staged_;
};
template <class C, class S, class... N>
If(const C&, S, N...) -> If<S>;

template <class S>
class While {
 public:
  explicit While(S state, const WhileLoopOptions& options = {}, std::string_view names = {})
      : state_(std::move(state)) {
    if (detail::loops_are_staged(state_)) [[unlikely]]
      staged_ = detail::stage_while(state_, options, names);
    else left_ = rw::detail::iteration_limit(options.maximum_iterations);
  }
  While(const While&) = delete;
  While& operator=(const While&) = delete;

  // Whether the condition is to be computed.
  bool open() {
    if (staged_) [[unlikely]]
      return detail::open_loop(*staged_);
    return left_ != 0;
  }
  // Whether the body runs.
  template <class C>
  bool condition(const C& condition) {
    static_assert(detail::is_tensor<C>, "loops on conditions of the host's stay as they are");
    if (staged_) [[unlikely]]
      return detail::close_condition(*staged_, Operand(condition).tensor());
    return bool(Operand(condition).tensor());
  }
  void step() {
    if (staged_) [[unlikely]]
      detail::close_body(*staged_);
    else if (left_ > 0) --left_;
  }

 private:
  S state_;
  int64_t left_ = -1;  // iterations; -1: no limit
  detail::StagedWhilePtr staged_;
};

}  // namespace rw::autograph
