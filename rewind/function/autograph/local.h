// Host variables that staged code changes: `int k = 0;` becomes `Local<int> k = 0;`, a plain int until a
// staged branch or loop makes it a scalar of the graph. Its arithmetic is C++'s either way: the usual
// conversions, division that truncates, wrapping at the width. Beside a tensor it takes the tensor's type, as
// the number would.
#pragma once

#include "rewind/function/autograph/state.h"
#include "rewind/tensor/operand.h"
#include "rewind/tensor/ops/operators.h"

namespace rw::autograph {

template <class T>
class Local;

namespace detail {

template <class T>
concept Number = std::is_arithmetic_v<T> && !std::is_same_v<T, long double>;
// Of an enum that is none by a class of its own: a number in arithmetic.
template <class T>
concept Enumerator = std::is_enum_v<T> && std::is_convertible_v<T, int64_t>;

// By size and sign: `char` and `long long` have one too.
template <Number T>
constexpr DType number_dtype() {
  if constexpr (std::is_same_v<T, bool>) return DType::kBool;
  else if constexpr (std::is_floating_point_v<T>) return sizeof(T) == 4 ? DType::kFloat32 : DType::kFloat64;
  else if constexpr (std::is_signed_v<T>)
    return sizeof(T) == 1   ? DType::kInt8
           : sizeof(T) == 2 ? DType::kInt16
           : sizeof(T) == 4 ? DType::kInt32
                            : DType::kInt64;
  else
    return sizeof(T) == 1   ? DType::kUint8
           : sizeof(T) == 2 ? DType::kUint16
           : sizeof(T) == 4 ? DType::kUint32
                            : DType::kUint64;
}

enum class NumberOp : uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMod,
  kAnd,
  kOr,
  kXor,
  kShiftLeft,
  kShiftRight,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
};
// On scalars of one dtype.
Tensor apply_number(NumberOp op, const Tensor& a, const Tensor& b);
Tensor negate_number(const Tensor& a);
Tensor invert_number(const Tensor& a);
Tensor not_number(const Tensor& a);  // a bool
// As C++ converts numbers.
Tensor convert_number(const Tensor& a, DType dtype);
Tensor number_constant(const void* value, DType dtype);
[[noreturn]] void fail_staged_number(DType dtype);

}  // namespace detail

template <class T>
class Local {
  static_assert(detail::Number<T>);

 public:
  using users_type = T;
  static constexpr DType kDType = detail::number_dtype<T>();

  Local() = default;
  template <detail::Number U>
  Local(U value) : value_(T(value)) {}  // NOLINT: as the number itself
  template <detail::Enumerator U>
  Local(U value) : value_(T(value)) {}  // NOLINT
  template <class U>
  Local(const Local<U>& other) {  // NOLINT: numbers convert
    if (other.staged()) [[unlikely]]
      tensor_ = detail::convert_number(other.tensor(), kDType);
    else value_ = T(other.host());
  }
  // A scalar of the graph, of this very type.
  static Local of(Tensor tensor) {
    Local result;
    result.tensor_ = std::move(tensor);
    return result;
  }

  bool staged() const { return tensor_.defined(); }
  const T& host() const { return value_; }
  const Tensor& tensor() const { return tensor_; }
  bool is_true_on_host() const { return !staged() && bool(value_); }
  // The number where it is the host's; staged it has no value yet.
  template <detail::Number U>
  explicit operator U() const {
    if (staged()) [[unlikely]]
      detail::fail_staged_number(kDType);
    return U(value_);
  }
  // As the number beside tensors and in their places.
  operator Operand() const {  // NOLINT
    if (staged()) return Operand(Operand::Number{tensor_});
    return Operand(value_);
  }
  operator Tensor() const {  // NOLINT
    if constexpr (std::is_same_v<T, double>) return as<float>();
    else return as<T>();
  }
  // As a scalar of type U, staged or not.
  template <detail::Number U>
  Tensor as() const {
    constexpr DType dtype = detail::number_dtype<U>();
    if (staged()) return detail::convert_number(tensor_, dtype);
    const U value = U(value_);
    return detail::number_constant(&value, dtype);
  }

  template <class U>
  Local& operator+=(const U& b) {
    return *this = Local(*this + b);
  }
  template <class U>
  Local& operator-=(const U& b) {
    return *this = Local(*this - b);
  }
  template <class U>
  Local& operator*=(const U& b) {
    return *this = Local(*this * b);
  }
  template <class U>
  Local& operator/=(const U& b) {
    return *this = Local(*this / b);
  }
  template <class U>
  Local& operator%=(const U& b) {
    return *this = Local(*this % b);
  }
  template <class U>
  Local& operator&=(const U& b) {
    return *this = Local(*this & b);
  }
  template <class U>
  Local& operator|=(const U& b) {
    return *this = Local(*this | b);
  }
  template <class U>
  Local& operator^=(const U& b) {
    return *this = Local(*this ^ b);
  }
  template <class U>
  Local& operator<<=(const U& b) {
    return *this = Local(*this << b);
  }
  template <class U>
  Local& operator>>=(const U& b) {
    return *this = Local(*this >> b);
  }
  Local& operator++() { return *this += T(1); }
  Local& operator--() { return *this -= T(1); }
  Local operator++(int) {
    Local before = *this;
    ++*this;
    return before;
  }
  Local operator--(int) {
    Local before = *this;
    --*this;
    return before;
  }

  // For staging.
  void write_state(NestWriter& w) const {
    if (staged()) Nest<Tensor>::write(tensor_, w);
    else Nest<T>::write(value_, w);
  }
  void read_state(NestReader& r) {
    if (staged()) tensor_ = *r.next++;
  }
  void promote() {
    if (!staged()) tensor_ = as<T>();
  }

 private:
  T value_{};
  Tensor tensor_;
};
template <class T>
Local(T) -> Local<T>;

// What a template returns where staged code decides it: a number as a Local, others as they are.
template <class T>
struct PromotedType {
  using type = T;
};
template <detail::Number T>
struct PromotedType<T> {
  using type = Local<T>;
};
template <class T>
using Promoted = typename PromotedType<T>::type;
template <class T>
Promoted<std::remove_cvref_t<T>> promoted(T&& value) {
  return std::forward<T>(value);
}

namespace detail {

template <class T>
struct NumberOf {
  static constexpr bool kNumber = Number<T>;
  using type = T;
};
template <Enumerator T>
struct NumberOf<T> {
  static constexpr bool kNumber = true;
  using type = decltype(+T());
};
template <class T>
struct NumberOf<Local<T>> {
  static constexpr bool kNumber = true;
  using type = T;
};
// One side is a Local, the other one too or a number.
template <class A, class B>
concept LocalPair = (is_local<A> || is_local<B>) && NumberOf<A>::kNumber && NumberOf<B>::kNumber;

template <class A>
bool number_is_staged(const A& a) {
  if constexpr (is_local<A>) return a.staged();
  else return false;
}
template <class A>
auto host_number(const A& a) {
  if constexpr (is_local<A>) return a.host();
  else return a;
}
template <class U, class A>
Tensor number_as(const A& a) {
  if constexpr (is_local<A>) return a.template as<U>();
  else return Local<U>(a).template as<U>();
}
// C: the type that both operands have in the operation, R: the result's.
template <class C, class R, class A, class B>
Local<R> staged_number(NumberOp op, const A& a, const B& b) {
  return Local<R>::of(apply_number(op, number_as<C>(a), number_as<C>(b)));
}

}  // namespace detail

#define RW_LOCAL_OPERATOR(symbol, op, Common)                                        \
  template <class A, class B>                                                        \
    requires detail::LocalPair<A, B>                                                 \
  auto operator symbol(const A& a, const B& b) {                                     \
    using X = typename detail::NumberOf<A>::type;                                    \
    using Y = typename detail::NumberOf<B>::type;                                    \
    using R = decltype(X() symbol Y());                                              \
    if (detail::number_is_staged(a) || detail::number_is_staged(b)) [[unlikely]]     \
      return detail::staged_number<decltype(Common), R>(detail::NumberOp::op, a, b); \
    return Local<R>(R(detail::host_number(a) symbol detail::host_number(b)));        \
  }
RW_LOCAL_OPERATOR(+, kAdd, X() + Y())
RW_LOCAL_OPERATOR(-, kSub, X() + Y())
RW_LOCAL_OPERATOR(*, kMul, X() + Y())
RW_LOCAL_OPERATOR(/, kDiv, X() + Y())
RW_LOCAL_OPERATOR(%, kMod, X() + Y())
RW_LOCAL_OPERATOR(&, kAnd, X() + Y())
RW_LOCAL_OPERATOR(|, kOr, X() + Y())
RW_LOCAL_OPERATOR(^, kXor, X() + Y())
RW_LOCAL_OPERATOR(<<, kShiftLeft, +X())
RW_LOCAL_OPERATOR(>>, kShiftRight, +X())
RW_LOCAL_OPERATOR(==, kEqual, X() + Y())
RW_LOCAL_OPERATOR(!=, kNotEqual, X() + Y())
RW_LOCAL_OPERATOR(<, kLess, X() + Y())
RW_LOCAL_OPERATOR(<=, kLessEqual, X() + Y())
RW_LOCAL_OPERATOR(>, kGreater, X() + Y())
RW_LOCAL_OPERATOR(>=, kGreaterEqual, X() + Y())
#undef RW_LOCAL_OPERATOR

template <class T>
Local<bool> operator!(const Local<T>& a) {
  if (a.staged()) [[unlikely]]
    return Local<bool>::of(detail::not_number(a.template as<bool>()));
  return !bool(a.host());
}
template <class T>
auto operator-(const Local<T>& a) {
  using R = decltype(-T());
  if (a.staged()) [[unlikely]]
    return Local<R>::of(detail::negate_number(a.template as<R>()));
  return Local<R>(R(-a.host()));
}
template <class T>
auto operator+(const Local<T>& a) {
  return Local<decltype(+T())>(a);
}
template <class T>
auto operator~(const Local<T>& a) {
  using R = decltype(~T());
  if (a.staged()) [[unlikely]]
    return Local<R>::of(detail::invert_number(a.template as<R>()));
  return Local<R>(R(~a.host()));
}

}  // namespace rw::autograph

namespace rw {

// A number that staged code has changed, as constant(number).
template <class T>
Tensor constant(const autograph::Local<T>& value, DType dtype = DType::kInvalid) {
  return dtype == DType::kInvalid ? Tensor(value)
                                  : autograph::detail::convert_number(value.template as<T>(), dtype);
}

}  // namespace rw
