// Operators on tensors and variables, with TensorFlow's meaning: / divides truly (integers become floats), %
// is the floor's remainder, == and != compare elements and are one answer where shapes do not fit, & | ^ ~
// are logic on bool and bits on integers.
#pragma once

#include <type_traits>
#include <utility>

#include "rewind/tensor/operand.h"

namespace rw {

class Variable;

// One side is a tensor or a variable, the other anything that an op takes.
template <class T>
concept TensorLike = std::is_same_v<T, Tensor> || std::is_same_v<T, Variable>;
template <class A, class B>
concept OperatorPair = (TensorLike<A> || TensorLike<B>) && std::is_convertible_v<const A&, Operand> &&
                       std::is_convertible_v<const B&, Operand>;

namespace operators {

Tensor plus(const Operand& a, const Operand& b);
Tensor minus(const Operand& a, const Operand& b);
Tensor times(const Operand& a, const Operand& b);
Tensor over(const Operand& a, const Operand& b);
Tensor modulo(const Operand& a, const Operand& b);
Tensor equals(const Operand& a, const Operand& b);
Tensor differs(const Operand& a, const Operand& b);
Tensor less(const Operand& a, const Operand& b);
Tensor less_equal(const Operand& a, const Operand& b);
Tensor greater(const Operand& a, const Operand& b);
Tensor greater_equal(const Operand& a, const Operand& b);
Tensor both(const Operand& a, const Operand& b);
Tensor either(const Operand& a, const Operand& b);
Tensor one_of(const Operand& a, const Operand& b);
Tensor minus(const Operand& x);
Tensor inverse(const Operand& x);

}  // namespace operators

#define RW_OPERATOR(symbol, function)              \
  template <class A, class B>                      \
    requires OperatorPair<A, B>                    \
  Tensor operator symbol(const A& a, const B& b) { \
    return operators::function(a, b);              \
  }
RW_OPERATOR(+, plus)
RW_OPERATOR(-, minus)
RW_OPERATOR(*, times)
RW_OPERATOR(/, over)
RW_OPERATOR(%, modulo)
RW_OPERATOR(==, equals)
RW_OPERATOR(!=, differs)
RW_OPERATOR(<, less)
RW_OPERATOR(<=, less_equal)
RW_OPERATOR(>, greater)
RW_OPERATOR(>=, greater_equal)
RW_OPERATOR(&, both)
RW_OPERATOR(|, either)
RW_OPERATOR(^, one_of)
#undef RW_OPERATOR

template <TensorLike A>
Tensor operator-(const A& x) {
  return operators::minus(x);
}
template <TensorLike A>
Tensor operator~(const A& x) {
  return operators::inverse(x);
}

// a += b makes `a` the sum; other handles to its old value keep that.
template <class B>
  requires std::is_convertible_v<const B&, Operand>
Tensor& operator+=(Tensor& a, const B& b) {
  return a = operators::plus(a, b);
}
template <class B>
  requires std::is_convertible_v<const B&, Operand>
Tensor& operator-=(Tensor& a, const B& b) {
  return a = operators::minus(a, b);
}
template <class B>
  requires std::is_convertible_v<const B&, Operand>
Tensor& operator*=(Tensor& a, const B& b) {
  return a = operators::times(a, b);
}
template <class B>
  requires std::is_convertible_v<const B&, Operand>
Tensor& operator/=(Tensor& a, const B& b) {
  return a = operators::over(a, b);
}
template <class B>
  requires std::is_convertible_v<const B&, Operand>
Tensor& operator%=(Tensor& a, const B& b) {
  return a = operators::modulo(a, b);
}
inline Tensor& operator++(Tensor& a) { return a = operators::plus(a, 1); }
inline Tensor& operator--(Tensor& a) { return a = operators::minus(a, 1); }
inline Tensor operator++(Tensor& a, int) { return std::exchange(a, operators::plus(a, 1)); }
inline Tensor operator--(Tensor& a, int) { return std::exchange(a, operators::minus(a, 1)); }

}  // namespace rw
