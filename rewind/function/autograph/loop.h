// while, do and for on tensors:
//
//   using namespace rw::autograph;
//
//   for (While s(state(n, k), "n, k"); s.open() && s.condition(n > 1.0); s.step()) {...}
//
//   for (DoWhile s(state(n), "n"); s.open(); s.step([&] { return n > 1.0; })) {...}
//
//   for (For s(xs, state(sum), "sum"); s.open(); s.step()) {
//     rw::Tensor x = s.element();
//     ...
//   }
//
// On the host they are plain loops. In a trace condition and body run once and become a While. A For may have
// a further condition, a While one of flags and promoted numbers alone: that is staged if what the body does
// to them is.
#pragma once

#include "rewind/function/autograph/elements.h"
#include "rewind/function/autograph/logic.h"

namespace rw::autograph {
namespace detail {

enum class LoopKind : uint8_t { kWhile, kDoWhile, kFor };
class StagedLoop;
struct EndLoop {
  void operator()(StagedLoop* staged) const;
};
using StagedLoopPtr = std::unique_ptr<StagedLoop, EndLoop>;

bool loops_are_staged();
// Whether C++ cannot decide outside of a trace.
bool is_batch(const Tensor& predicate);
// `elements` of a For must outlive the loop.
StagedLoopPtr stage_loop(LoopKind kind, const State& state, Elements* elements = nullptr);
// A loop whose condition was computed and turned out to be staged.
StagedLoopPtr stage_rest(const State& state, const Local<bool>& more);
bool open_loop(StagedLoop& staged);
// What a condition is, by its type and value.
struct Condition {
  Local<bool> value;
  enum By : uint8_t { kTensor, kLocal, kHost } by;
};
bool close_condition(StagedLoop& staged, const Condition& condition);  // whether the body runs
void begin_body(StagedLoop& staged);  // of a For, at the first look at its element
void close_body(StagedLoop& staged, FunctionRef<Condition()> condition);
void close_body(StagedLoop& staged);

template <class C>
Condition condition_of(const C& condition) {
  if constexpr (is_tensor<C>) {
    const Operand operand(condition);
    return {Local<bool>::of(scalar_truth(operand.tensor())), Condition::kTensor};
  } else if constexpr (is_local<C>) {
    return {Local<bool>(condition), Condition::kLocal};
  } else {
    return {Local<bool>(bool(condition)), Condition::kHost};
  }
}

}  // namespace detail

template <class S>
class While {
 public:
  explicit While(const S& state, std::string_view names = {}) : state_(state), names_(names) {
    if (detail::loops_are_staged()) [[unlikely]]
      staged_ = detail::stage_loop(detail::LoopKind::kWhile, state_.view(names));
  }
  While(const While&) = delete;
  While& operator=(const While&) = delete;

  // Whether the condition is to be computed.
  bool open() {
    if (staged_) [[unlikely]]
      return detail::open_loop(*staged_);
    return true;
  }
  // Whether the body runs.
  template <class C>
  bool condition(const C& condition) {
    if (staged_) [[unlikely]]
      return detail::close_condition(*staged_, detail::condition_of(condition));
    if constexpr (detail::is_tensor<C>) {
      const Operand operand(condition);
      if (!detail::is_batch(operand.tensor())) return bool(operand.tensor());
      staged_ =
          detail::stage_rest(state_.view(names_), Local<bool>::of(detail::scalar_truth(operand.tensor())));
      return true;
    } else if constexpr (detail::is_local<C>) {
      if (!condition.staged()) return bool(condition.host());
      staged_ = detail::stage_rest(state_.view(names_), condition);
      return true;
    } else {
      return bool(condition);
    }
  }
  void step() {
    if (staged_) [[unlikely]]
      detail::close_body(*staged_);
  }

 private:
  S state_;
  std::string_view names_;
  detail::StagedLoopPtr staged_;
};

template <class S>
class DoWhile {
 public:
  explicit DoWhile(const S& state, std::string_view names = {}) : state_(state), names_(names) {
    if (detail::loops_are_staged()) [[unlikely]]
      staged_ = detail::stage_loop(detail::LoopKind::kDoWhile, state_.view(names));
  }
  DoWhile(const DoWhile&) = delete;
  DoWhile& operator=(const DoWhile&) = delete;

  bool open() {
    if (staged_) [[unlikely]]
      return detail::open_loop(*staged_);
    return more_;
  }
  template <class F>
  void step(F&& condition) {
    if (staged_) [[unlikely]]
      return detail::close_body(*staged_, [&] { return detail::condition_of(condition()); });
    using C = std::invoke_result_t<F&>;
    if constexpr (detail::is_tensor<C>) {
      const Tensor& c = condition();
      if (detail::is_batch(c)) rest(Local<bool>::of(detail::scalar_truth(c)));
      else more_ = bool(c);
    } else if constexpr (detail::is_local<std::remove_cvref_t<C>>) {
      const Local<bool> c = condition();
      if (c.staged()) rest(c);
      else more_ = c.host();
    } else {
      more_ = bool(condition());
    }
  }

 private:
  void rest(const Local<bool>& more) { staged_ = detail::stage_rest(state_.view(names_), more); }
  S state_;
  std::string_view names_;
  bool more_ = true;
  detail::StagedLoopPtr staged_;
};

// Over a tensor's first axis, a TensorArray, a dataset; a range of the host is a plain loop.
template <class R, class S>
class For;

template <class R, class S>
  requires(Range<std::remove_cvref_t<R>>::kStages)
class For<R, S> {
  using Over = Range<std::remove_cvref_t<R>>;

 public:
  For(R&& range, const S& state, std::string_view names = {}) : state_(state) {
    if (detail::loops_are_staged()) [[unlikely]] {
      elements_ = Over::stage(range);
      staged_ = detail::stage_loop(detail::LoopKind::kFor, state_.view(names), elements_.get());
    } else {
      walk_.emplace(range);
    }
  }
  For(const For&) = delete;
  For& operator=(const For&) = delete;

  bool open() {
    if (staged_) [[unlikely]]
      return detail::open_loop(*staged_);
    return has_condition_ || walk_->more();
  }
  // Behind the first iteration no element is asked for where the condition is false.
  template <class C>
  bool condition(const C& condition) {
    if (staged_) [[unlikely]]
      return detail::close_condition(*staged_, detail::condition_of(condition));
    const bool wanted = bool(condition);
    return wanted && (!std::exchange(has_condition_, true) || walk_->more());
  }
  decltype(auto) element() {
    using E = std::remove_cvref_t<decltype(walk_->element())>;
    if (staged_) [[unlikely]] {
      detail::begin_body(*staged_);
      return E(elements_->element());
    }
    return E(walk_->element());
  }
  void step() {
    if (staged_) [[unlikely]]
      return detail::close_body(*staged_);
    walk_->next();
  }

 private:
  S state_;
  bool has_condition_ = false;
  std::optional<typename Over::Walk> walk_;
  std::unique_ptr<typename Over::Staged> elements_;
  detail::StagedLoopPtr staged_;
};

template <class R, class S>
  requires(!Range<std::remove_cvref_t<R>>::kStages)
class For<R, S> {
 public:
  For(R&& range, const S& state, std::string_view names = {})
      : range_(std::forward<R>(range)),
        at_(std::ranges::begin(range_)),
        end_(std::ranges::end(range_)),
        state_(state),
        names_(names) {}
  For(const For&) = delete;
  For& operator=(const For&) = delete;

  bool open() const { return at_ != end_; }
  // A staged flag does not end a loop of the host: the body stands under it.
  template <class C>
  bool condition(const C& condition) {
    if constexpr (detail::is_local<C>) {
      if (!condition.staged()) return bool(condition.host());
      guard_.emplace(condition, state_, names_);
      return guard_->next();
    } else {
      return bool(condition);
    }
  }
  decltype(auto) element() { return *at_; }
  void step() {
    if (guard_) [[unlikely]] {
      while (guard_->next()) {}  // the other branch does nothing
      guard_.reset();
    }
    ++at_;
  }

 private:
  R range_;
  std::ranges::iterator_t<std::remove_reference_t<R>> at_;
  std::ranges::sentinel_t<std::remove_reference_t<R>> end_;
  S state_;
  std::string_view names_;
  std::optional<If<S>> guard_;
};

template <class R, class S, class... N>
For(R&&, const S&, N...) -> For<R, S>;

}  // namespace rw::autograph
