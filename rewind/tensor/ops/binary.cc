#include "rewind/tensor/ops/binary.h"

#include "rewind/tensor/apply.h"

namespace rw {
namespace {

Tensor binary(const Op& op, const Operand& x, const Operand& y) {
  const OperandPair p = unify(x, y);
  return apply_one(op, {&p.a, &p.b});
}

}  // namespace

Tensor add(const Operand& x, const Operand& y) { return binary(RW_OP("AddV2"), x, y); }
Tensor subtract(const Operand& x, const Operand& y) { return binary(RW_OP("Sub"), x, y); }
Tensor multiply(const Operand& x, const Operand& y) { return binary(RW_OP("Mul"), x, y); }
Tensor negative(const Operand& x) { return apply_one(RW_OP("Neg"), {&x.tensor()}); }

}  // namespace rw
