// Binary elementwise functions and operators. Shapes broadcast as in numpy; C++ numbers take the tensor's type.
#pragma once

#include "rewind/tensor/operand.h"

namespace rw {

Tensor add(const Operand& x, const Operand& y);
Tensor subtract(const Operand& x, const Operand& y);
Tensor multiply(const Operand& x, const Operand& y);
Tensor negative(const Operand& x);

// Operators take part when one side is a tensor or a variable.
template <class T>
concept TensorLike = std::is_same_v<T, Tensor> || std::is_same_v<T, Variable>;
template <class A, class B>
concept OperatorPair = (TensorLike<A> || TensorLike<B>) && std::is_convertible_v<const A&, Operand> &&
                       std::is_convertible_v<const B&, Operand>;

template <class A, class B>
  requires OperatorPair<A, B>
Tensor operator+(const A& a, const B& b) {
  return add(a, b);
}
template <class A, class B>
  requires OperatorPair<A, B>
Tensor operator-(const A& a, const B& b) {
  return subtract(a, b);
}
template <class A, class B>
  requires OperatorPair<A, B>
Tensor operator*(const A& a, const B& b) {
  return multiply(a, b);
}
inline Tensor operator-(const Tensor& x) { return negative(x); }

}  // namespace rw
