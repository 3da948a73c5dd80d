// The value of a function whose returns stand inside staged code: `return e;` becomes ret.set(e), and the
// function ends with `return ret.take();`. While it is unset it holds nothing; where staged code sets it on
// one path only, the other path holds zeros of the same types and shapes.
#pragma once

#include "rewind/function/autograph/local.h"

namespace rw::autograph {
namespace detail {

[[noreturn]] void fail_no_return();

// The value itself, as a part of a state.
template <class T>
class ReturnValue {
 public:
  using users_type = T;
  static constexpr bool kListsTensors = HasNest<T> || is_local<T>;
  void write_state(NestWriter& w) const {
    if (!value) return w.key.add(TraceKey::kNothing, 0);
    if constexpr (HasNest<T>) Nest<T>::write(*value, w);
    else if constexpr (is_local<T>) value->write_state(w);
  }
  void read_state(NestReader& r) {
    if (!value) return;
    if constexpr (is_local<T>) value->read_state(r);
    else if constexpr (HasNest<T>) value.emplace(Nest<T>::read(*value, r));
  }
  void promote()
    requires is_local<T>
  {
    if (value) value->promote();
  }
  std::optional<T> value;
};

}  // namespace detail

template <class T>
class Return {
  using Value = detail::ReturnValue<T>;

 public:
  static constexpr size_t kParts = 2;
  template <class U = T>
  void set(U&& value) {
    value_.value.emplace(std::forward<U>(value));
    done_ = true;
  }
  // Whether it was set.
  const Local<bool>& done() const { return done_; }
  T take() {
    if (!value_.value) [[unlikely]]
      detail::fail_no_return();
    return std::move(*value_.value);
  }

  // For states.
  template <class A>
  static constexpr void entries(A& all, size_t& at, uint16_t variable) {
    all[at++] = {&detail::access<Local<bool>>, variable};
    all[at++] = {&detail::access<Value>, variable};
  }
  void place(void** addresses, size_t& at) {
    addresses[at++] = &done_;
    addresses[at++] = &value_;
  }

 private:
  Local<bool> done_ = false;
  Value value_;
};

template <>
class Return<void> {
 public:
  static constexpr size_t kParts = 1;
  void set() { done_ = true; }
  const Local<bool>& done() const { return done_; }
  void take() const {}

  template <class A>
  static constexpr void entries(A& all, size_t& at, uint16_t variable) {
    all[at++] = {&detail::access<Local<bool>>, variable};
  }
  void place(void** addresses, size_t& at) { addresses[at++] = &done_; }

 private:
  Local<bool> done_ = false;
};

}  // namespace rw::autograph
