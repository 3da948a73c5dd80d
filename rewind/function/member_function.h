// Functions as members of modules. Their type says what they take and give:
//
//   struct Net : rw::Module {
//     rw::Variable w{rw::ones({2, 2})};
//     rw::Tensor forward(const rw::Tensor& x) { return rw::matmul(x, w); }
//     rw::Function<rw::Tensor(const rw::Tensor&)> call{this, &Net::forward};
//     RW_TRACK(w, call)
//   };
//
// A copy of the module has a function of its own, which calls the copy; moving a module moves its traces. A
// copy of the function alone goes on calling the module that it was made for, which must live as long.
// `rw::function(this, &Net::forward)` is the same. In place of a method any callable may stand that takes the
// module first; without a module (`call = rw::function(f)`) copies share f and its traces.
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "rewind/base/error.h"
#include "rewind/function/function.h"
#include "rewind/function/owners.h"

namespace rw {

class Module;

namespace detail {

// The module that a member function belongs to, as long as the function lies inside of it.
class Owner {
 public:
  Owner() = default;
  template <class C>
  Owner(C* object, const void* function) : object_(object) {
    if constexpr (std::is_base_of_v<Module, C>) {
      const Module* module = object;
      module_ = module;
      std::memcpy(&table_, module_, sizeof(table_));
      set_place(function, sizeof(C));
    }
  }

  void* object() const { return object_; }
  bool inside() const { return inside_; }
  // Of a copy of the function at `from`: whether it lies in another module, and then that module.
  bool follow(const Owner& other, const void* from, const void* to) {
    *this = other;
    if (!other.inside_) return false;
    const auto shift = static_cast<const char*>(to) - static_cast<const char*>(from);
    const void* module = static_cast<const char*>(other.module_) + shift;
    inside_ = is_copy_of_owner(module, other.module_, other.table_);
    if (!inside_) return false;
    object_ = static_cast<char*>(other.object_) + shift;
    module_ = module;
    return true;
  }
  // Whether both lie at the same place of their modules.
  bool same_member(const Owner& other, const void* here, const void* there) const {
    return inside_ && other.inside_ && table_ == other.table_ &&
           static_cast<const char*>(here) - static_cast<const char*>(object_) ==
               static_cast<const char*>(there) - static_cast<const char*>(other.object_);
  }
  // The function lies at another address.
  void set_place(const void* function, size_t size = 0) {
    if (size) size_ = size;
    const auto at = static_cast<const char*>(function) - static_cast<const char*>(object_);
    inside_ = module_ && at >= 0 && size_t(at) < size_;
  }

 private:
  void* object_ = nullptr;
  const void* module_ = nullptr;  // its base class
  const void* table_ = nullptr;   // of virtual functions
  size_t size_ = 0;
  bool inside_ = false;
};

template <class P, class T>
decltype(auto) to_parameter(T&& value) {
  using Wanted = std::remove_cvref_t<P>;
  if constexpr (std::is_same_v<std::remove_cvref_t<T>, Wanted>) return std::forward<T>(value);
  else return Wanted(std::forward<T>(value));
}

template <class R, class F, class... A>
R invoke_as(F& f, A&&... args) {
  if constexpr (std::is_void_v<R>) std::invoke(f, std::forward<A>(args)...);
  else return std::invoke(f, std::forward<A>(args)...);
}

}  // namespace detail

template <class R, class... A>
class Function<R(A...)> {
 public:
  Function() = default;
  template <class C, class M>
    requires std::is_invocable_r_v<R, M&, C&, A...>
  Function(C* object, M method, FunctionOptions options = {})
      : options_(std::move(options)),
        owner_(object, this),
        call_(std::make_shared<const Call>([method = std::move(method)](void* self, A... args) -> R {
          return detail::invoke_as<R>(method, *static_cast<C*>(self), std::forward<A>(args)...);
        })) {
    renew();
  }
  template <class F>
    requires(std::is_invocable_r_v<R, F&, A...> && !std::is_same_v<std::remove_cvref_t<F>, Function>)
  Function(F f, FunctionOptions options = {})  // NOLINT: a callable becomes a function
      : options_(std::move(options)),
        call_(std::make_shared<const Call>([f = std::make_shared<F>(std::move(f))](void*, A... args) -> R {
          return detail::invoke_as<R>(*f, std::forward<A>(args)...);
        })) {
    renew();
  }
  // What rw::function() gives: with its traces.
  template <class F>
    requires(!std::is_function_v<F> && std::is_invocable_r_v<R, F&, A...>)
  Function(const Function<F>& other)  // NOLINT
      : options_(other.core()->options()),
        call_(std::make_shared<const Call>([f = other.shared_callable()](void*, A... args) -> R {
          return detail::invoke_as<R>(*f, std::forward<A>(args)...);
        })) {
    // Traces keep results of the type that the callable returns.
    if constexpr (std::is_same_v<R, std::remove_cvref_t<std::invoke_result_t<F&, A&...>>>)
      function_.emplace(Target{call_, nullptr}, other.core());
    else renew();
  }

  Function(const Function& other) : options_(other.options_), call_(other.call_) {
    if (owner_.follow(other.owner_, &other, this)) renew();
    else function_ = other.function_;
  }
  // Of a module that is moved: the traces stay good, its variables are the same.
  Function(Function&& other) noexcept
      : options_(std::move(other.options_)), call_(other.call_), function_(std::move(other.function_)) {
    if (owner_.follow(other.owner_, &other, this) && function_) function_->callable().self = owner_.object();
    other.function_.reset();
  }
  // A member of a module goes on calling its module.
  Function& operator=(const Function& other) {
    if (this == &other) return *this;
    options_ = other.options_;
    call_ = other.call_;
    if (owner_.same_member(other.owner_, this, &other)) {
      renew();
    } else {
      owner_ = other.owner_;
      owner_.set_place(this);
      function_ = other.function_;
    }
    return *this;
  }
  ~Function() = default;

  explicit operator bool() const { return function_.has_value(); }
  decltype(auto) operator()(A... args) const { return target()(args...); }

  // The trace for arguments like these; a TensorSpec stands for a tensor of its kind, a vector of them for a
  // vector of tensors.
  template <class... B>
    requires(sizeof...(B) == sizeof...(A))
  ConcreteFunction get_concrete_function(B&&... args) const {
    return target().get_concrete_function(
        detail::to_parameter<A>(detail::as_argument(std::forward<B>(args)))...);
  }
  template <class... B>
    requires(sizeof...(B) == sizeof...(A))
  MemoryReport memory_plan(B&&... args) const {
    return target().memory_plan(detail::to_parameter<A>(std::forward<B>(args))...);
  }
  int tracing_count() const { return target().tracing_count(); }
  std::string pretty_printed_concrete_signatures() const {
    return target().pretty_printed_concrete_signatures();
  }
  // Null where there is no function.
  std::shared_ptr<FunctionCore> core() const { return function_ ? function_->core() : nullptr; }
  // Makes the trace that an input_signature asks for, where the arguments are tensors.
  void trace_signature() const {
    const auto& specs = options_.input_signature;
    if (!specs) return;
    if constexpr ((std::is_convertible_v<Tensor, A> && ...)) {
      if (specs->size() != sizeof...(A)) return;
      [&]<size_t... I>(std::index_sequence<I...>) {
        (void)get_concrete_function((*specs)[I]...);
      }(std::index_sequence_for<A...>());
    } else if constexpr (sizeof...(A) == 1 && (std::is_convertible_v<std::vector<Tensor>, A> && ...)) {
      (void)get_concrete_function(*specs);
    }
  }

 private:
  using Call = std::function<R(void*, A...)>;
  struct Target {
    std::shared_ptr<const Call> call;
    void* self;
    R operator()(A... args) const { return (*call)(self, std::forward<A>(args)...); }
  };
  // Without traces.
  void renew() {
    function_.reset();
    if (call_) function_.emplace(Target{call_, owner_.object()}, options_);
  }
  const Function<Target>& target() const {
    if (!function_) fail_precondition("function", "an empty rw::Function was called: assign one first");
    return *function_;
  }

  FunctionOptions options_;
  detail::Owner owner_;
  std::shared_ptr<const Call> call_;
  std::optional<Function<Target>> function_;
};

// A method of this object as a function: see above.
template <class C, class B, class R, class... A>
  requires std::is_base_of_v<B, C>
Function<R(A...)> function(C* object, R (B::*method)(A...), FunctionOptions options = {}) {
  return Function<R(A...)>(object, method, std::move(options));
}
template <class C, class B, class R, class... A>
  requires std::is_base_of_v<B, C>
Function<R(A...)> function(C* object, R (B::*method)(A...) const, FunctionOptions options = {}) {
  return Function<R(A...)>(object, method, std::move(options));
}

}  // namespace rw
