// Arithmetic on gradients as tapes give them: w.assign_sub(tape.gradient(loss, w) * 0.1). The result is a
// tensor; a sparse gradient is summed into place, and one that is none is refused by the op.
#pragma once

#include "rewind/autodiff/gradient.h"
#include "rewind/tensor/ops/operators.h"

namespace rw {

template <class A, class B>
concept GradientPair = (std::is_same_v<A, Gradient> &&
                        (std::is_same_v<B, Gradient> || std::is_convertible_v<const B&, Operand>)) ||
                       (std::is_same_v<B, Gradient> && std::is_convertible_v<const A&, Operand>);

namespace detail {
inline Tensor gradient_side(const Gradient& g) { return g.tensor(); }
template <class T>
const T& gradient_side(const T& other) {
  return other;
}
}  // namespace detail

#define RW_GRADIENT_OPERATOR(symbol, function)                                      \
  template <class A, class B>                                                       \
    requires GradientPair<A, B>                                                     \
  Tensor operator symbol(const A& a, const B& b) {                                  \
    return operators::function(detail::gradient_side(a), detail::gradient_side(b)); \
  }
RW_GRADIENT_OPERATOR(+, plus)
RW_GRADIENT_OPERATOR(-, minus)
RW_GRADIENT_OPERATOR(*, times)
RW_GRADIENT_OPERATOR(/, over)
#undef RW_GRADIENT_OPERATOR

inline Tensor operator-(const Gradient& g) { return operators::minus(g.tensor()); }

}  // namespace rw
