// Matrix products.
#pragma once

#include <string_view>
#include <type_traits>
#include <vector>

#include "rewind/tensor/operand.h"

namespace rw {

struct MatmulOptions {
  bool transpose_a = false;
  bool transpose_b = false;
  bool adjoint_a = false;
  bool adjoint_b = false;
};

// a (..., m, k) times b (..., k, n); the leading axes broadcast.
Tensor matmul(const Operand& a, const Operand& b, MatmulOptions options = {});

// Einstein's summation, "ij,jk->ik": labels that the output lacks are summed, repeated ones take the
// diagonal, an ellipsis stands for axes that broadcast. Without "->", the output has the labels that occur
// once, in the alphabet's order.
Tensor einsum(std::string_view equation, const Operands& inputs);
template <class... T>
  requires(std::is_convertible_v<const T&, Operand> && ...)
Tensor einsum(std::string_view equation, const T&... inputs) {
  return einsum(equation, std::vector<Tensor>{Operand(inputs).tensor()...});
}

// Sums over the last `axes` axes of a with the first of b, or over the axes that are named on both sides.
Tensor tensordot(const Operand& a, const Operand& b, int axes);
Tensor tensordot(const Operand& a, const Operand& b, const std::vector<int>& a_axes,
                 const std::vector<int>& b_axes);

}  // namespace rw
