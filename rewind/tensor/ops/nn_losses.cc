// Losses that are composed of elementwise ops.
#include "rewind/tensor/apply.h"
#include "rewind/tensor/op_calls.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/nn.h"

namespace rw::nn {
namespace {

Tensor select(const Tensor& condition, const Tensor& a, const Tensor& b) {
  return apply_one(RW_OP("SelectV2"), {&condition, &a, &b});
}
// log(1 + e^x) for x that is not positive.
Tensor log1p_exp(const Tensor& x) { return op1(RW_OP("Log1p"), op1(RW_OP("Exp"), x)); }

}  // namespace

Tensor sigmoid_cross_entropy_with_logits(const Operand& labels, const Operand& logits) {
  const OperandPair p = unify(logits, labels);
  const Tensor& x = p.a;
  const Tensor zeros = op1(RW_OP("ZerosLike"), x);
  const Tensor positive = apply_one(RW_OP("GreaterEqual"), {&x, &zeros});
  const Tensor relu = select(positive, x, zeros);
  const Tensor minus_abs = select(positive, -x, x);
  return relu - x * p.b + log1p_exp(minus_abs);
}

Tensor weighted_cross_entropy_with_logits(const Operand& labels, const Operand& logits,
                                          const Operand& pos_weight) {
  const std::vector<Tensor> t = unify({&logits, &labels, &pos_weight});
  const Tensor& x = t[0];
  const Tensor& y = t[1];
  // With w = 1 + (pos_weight - 1) y: (1 - y) x + w (log(1 + e^-|x|) + max(-x, 0)).
  const Tensor weight = 1 + (t[2] - 1) * y;
  const Tensor minus_abs = -op1(RW_OP("Abs"), x);
  return (1 - y) * x + weight * (log1p_exp(minus_abs) + op1(RW_OP("Relu"), -x));
}

Tensor log_poisson_loss(const Operand& targets, const Operand& log_input, bool compute_full_loss) {
  const OperandPair p = unify(log_input, targets);
  const Tensor& z = p.b;
  const Tensor result = op1(RW_OP("Exp"), p.a) - p.a * z;
  if (!compute_full_loss) return result;
  constexpr double kTwoPi = 6.283185307179586;
  const Tensor log_z = op1(RW_OP("Log"), z);
  const Tensor stirling = z * log_z - z + 0.5 * op1(RW_OP("Log"), kTwoPi * z);
  const Tensor zeros = op1(RW_OP("ZerosLike"), z);
  const Tensor ones = op1(RW_OP("OnesLike"), z);
  const Tensor above = apply_one(RW_OP("GreaterEqual"), {&z, &zeros});
  const Tensor below = apply_one(RW_OP("LessEqual"), {&z, &ones});
  const Tensor small = apply_one(RW_OP("LogicalAnd"), {&above, &below});
  return result + select(small, zeros, stirling);
}

}  // namespace rw::nn
