// Matrix products.
#pragma once

#include <string>
#include <string_view>
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

}  // namespace rw
