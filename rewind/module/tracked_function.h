// Functions among the members of modules, as SavedModels see them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rewind/function/member_function.h"
#include "rewind/module/trackable.h"

namespace rw {

namespace format {
struct FunctionSpec;
}

// What every Trackable of kind kFunction is.
class FunctionTrackable : public Trackable {
 public:
  using Traces = std::function<std::vector<ConcreteFunction>()>;
  // `identity` tells functions apart; `traces` gives those that a file gets.
  FunctionTrackable(std::shared_ptr<const void> identity, FunctionOptions options, Traces traces)
      : identity_(std::move(identity)), options_(std::move(options)), traces_(std::move(traces)) {}
  ObjectId id() const override {
    return {"function", uint64_t(reinterpret_cast<uintptr_t>(identity_.get()))};
  }
  Kind kind() const override { return Kind::kFunction; }
  std::string describe() const override { return "function " + options_.name; }
  std::weak_ptr<const void> life() const override { return identity_; }

  const FunctionOptions& options() const { return options_; }
  std::vector<ConcreteFunction> traces() const { return traces_(); }
  // Of a function that comes from a file: how it said its parameters.
  std::shared_ptr<const format::FunctionSpec> spec = {};

 private:
  std::shared_ptr<const void> identity_;
  FunctionOptions options_;
  Traces traces_;
};

namespace detail {
template <class M>
struct MethodSignature;
template <class C, class R, class... A>
struct MethodSignature<R (C::*)(A...)> {
  using type = std::remove_cvref_t<R>(A...);  // as traces keep it
};
template <class C, class R, class... A>
struct MethodSignature<R (C::*)(A...) const> : MethodSignature<R (C::*)(A...)> {};
template <class C, class R, class... A>
struct MethodSignature<R (C::*)(A...) noexcept> : MethodSignature<R (C::*)(A...)> {};
template <class C, class R, class... A>
struct MethodSignature<R (C::*)(A...) const noexcept> : MethodSignature<R (C::*)(A...)> {};
}  // namespace detail

template <class R, class... A>
TrackablePtr trackable_of(const Function<R(A...)>& f) {
  if (!f) return nullptr;
  return std::make_shared<FunctionTrackable>(f.core(), f.core()->options(), [f] {
    f.trace_signature();
    return f.core()->concrete_functions();
  });
}
template <class F>
  requires(!std::is_function_v<F>)
TrackablePtr trackable_of(const Function<F>& f) {
  if constexpr (requires { typename detail::MethodSignature<decltype(&F::operator())>::type; }) {
    return trackable_of(Function<typename detail::MethodSignature<decltype(&F::operator())>::type>(f));
  } else {
    return std::make_shared<FunctionTrackable>(f.core(), f.core()->options(),
                                               [f] { return f.core()->concrete_functions(); });
  }
}

}  // namespace rw
