#include "rewind/tensor/ops/activation.h"

#include "rewind/tensor/apply.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/unary.h"

namespace rw::nn {

Tensor relu(const Operand& features) { return apply_one(RW_OP("Relu"), {&features.tensor()}); }
Tensor relu6(const Operand& features) { return apply_one(RW_OP("Relu6"), {&features.tensor()}); }
Tensor elu(const Operand& features) { return apply_one(RW_OP("Elu"), {&features.tensor()}); }
Tensor selu(const Operand& features) { return apply_one(RW_OP("Selu"), {&features.tensor()}); }
Tensor softplus(const Operand& features) { return apply_one(RW_OP("Softplus"), {&features.tensor()}); }
Tensor softsign(const Operand& features) { return apply_one(RW_OP("Softsign"), {&features.tensor()}); }

Tensor leaky_relu(const Operand& features, double alpha) {
  const Tensor& x = features.tensor();
  const Tensor real = is_integer(x.dtype()) ? cast(x, DType::kFloat32) : x;
  return apply_one(RW_OP("LeakyRelu"), {&real}, {{"alpha", alpha}});
}

Tensor crelu(const Operand& features, int axis) {
  const Tensor& x = features.tensor();
  const Tensor opposite = -x;
  const Tensor along = constant(axis);
  return relu(apply_one(RW_OP("ConcatV2"), {&x, &opposite, &along}));
}

Tensor gelu(const Operand& features, bool approximate) {
  const Tensor& x = features.tensor();
  // The cube as a product: a power costs as much as the tanh.
  if (approximate) return 0.5 * x * (1.0 + tanh(0.7978845608028654 * (x + 0.044715 * (x * x * x))));
  return 0.5 * x * (1.0 + math::erf(x / 1.4142135623730951));
}

Tensor silu(const Operand& features, double beta) {
  const Tensor& x = features.tensor();
  return x * sigmoid(beta == 1.0 ? x : beta * x);
}
Tensor swish(const Operand& features, double beta) { return silu(features, beta); }

}  // namespace rw::nn
