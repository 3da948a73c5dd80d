// Activations, with TensorFlow's names.
#pragma once

#include "rewind/tensor/operand.h"

namespace rw {

Tensor sigmoid(const Operand& x);
Tensor tanh(const Operand& x);

namespace nn {

using rw::sigmoid;
using rw::tanh;

Tensor relu(const Operand& features);
Tensor relu6(const Operand& features);
Tensor leaky_relu(const Operand& features, double alpha = 0.2);
Tensor elu(const Operand& features);
Tensor selu(const Operand& features);
// relu of x and of -x, side by side along `axis`.
Tensor crelu(const Operand& features, int axis = -1);
// x times the normal distribution's function at x; `approximate` takes a tanh for it.
Tensor gelu(const Operand& features, bool approximate = false);
// x sigmoid(beta x).
Tensor silu(const Operand& features, double beta = 1.0);
Tensor swish(const Operand& features, double beta = 1.0);
Tensor softplus(const Operand& features);
Tensor softsign(const Operand& features);

}  // namespace nn

namespace math {

using nn::softplus;
using nn::softsign;

}  // namespace math

}  // namespace rw
