#include "rewind/tensor/ops/matmul.h"

#include "rewind/base/error.h"
#include "rewind/tensor/apply.h"

namespace rw {

Tensor matmul(const Operand& a, const Operand& b, MatmulOptions options) {
  if (options.transpose_a && options.adjoint_a)
    fail_invalid("matmul", "only one of transpose_a and adjoint_a may be true");
  if (options.transpose_b && options.adjoint_b)
    fail_invalid("matmul", "only one of transpose_b and adjoint_b may be true");
  const OperandPair p = unify(a, b);
  const bool turn_a = options.transpose_a || options.adjoint_a;
  const bool turn_b = options.transpose_b || options.adjoint_b;
  const int rank_a = p.a.rank();
  const int rank_b = p.b.rank();
  const bool narrow = p.a.dtype() == DType::kInt8 || p.a.dtype() == DType::kInt16;
  if (rank_a == 2 && rank_b == 2 && !narrow) {
    if (!turn_a && !turn_b) return apply_one(RW_OP("MatMul"), {&p.a, &p.b});
    return apply_one(RW_OP("MatMul"), {&p.a, &p.b}, {{"transpose_a", turn_a}, {"transpose_b", turn_b}});
  }
  if (!turn_a && !turn_b) return apply_one(RW_OP("BatchMatMulV2"), {&p.a, &p.b});
  return apply_one(RW_OP("BatchMatMulV2"), {&p.a, &p.b}, {{"adj_x", turn_a}, {"adj_y", turn_b}});
}

}  // namespace rw
