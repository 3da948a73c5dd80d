#include "rewind/tensor/ops/linalg.h"

#include "rewind/tensor/apply.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/sizes.h"

namespace rw::linalg {
namespace {

Tensor one(const Op& op, const Operand& x) { return apply_one(op, {&x.tensor()}); }
Tensor two(const Op& op, const Operand& x, const Operand& y) {
  const OperandPair p = unify(x, y);
  return apply_one(op, {&p.a, &p.b});
}

Tensor last_axis_of(int value) { return constant(value); }

Tensor diagonals_of(const Diagonals& k) {
  return k.low == k.high ? constant(k.low) : constant(std::vector<int32_t>{k.low, k.high});
}

}  // namespace

Tensor matvec(const Operand& a, const Operand& b, MatvecOptions options) {
  const OperandPair p = unify(a, b);
  const Tensor axis = last_axis_of(-1);
  const Tensor column = apply_one(RW_OP("ExpandDims"), {&p.b, &axis});
  const Tensor product =
      matmul(p.a, column, {.transpose_a = options.transpose_a, .adjoint_a = options.adjoint_a});
  return apply_one(RW_OP("Squeeze"), {&product}, {{"squeeze_dims", std::vector<int64_t>{-1}}});
}

Tensor matrix_transpose(const Operand& a) {
  const Tensor& x = a.tensor();
  const int rank = x.rank();
  if (rank < 0) {
    const Tensor axes = apply_one(RW_OP("Rank"), {&x});
    const Tensor front = numbers_below(Size(axes) - 2, DType::kInt32);
    const Tensor last = dims_tensor(Sizes{Size(axes) - 1, Size(axes) - 2}, DType::kInt32);
    const Tensor zero = constant(0);
    const Tensor order = apply_one(RW_OP("ConcatV2"), {&front, &last, &zero});
    return apply_one(RW_OP("Transpose"), {&x, &order});
  }
  std::vector<int32_t> perm;
  for (int i = 0; i < rank; ++i) perm.push_back(i);
  if (rank >= 2) std::swap(perm[size_t(rank - 1)], perm[size_t(rank - 2)]);
  const Tensor order = constant(perm);
  return apply_one(RW_OP("Transpose"), {&x, &order});
}

Tensor adjoint(const Operand& matrix) { return matrix_transpose(matrix); }

Tensor trace(const Operand& x) {
  const Tensor diagonal = diag_part(x);
  const Tensor axis = last_axis_of(-1);
  return apply_one(RW_OP("Sum"), {&diagonal, &axis});
}

Tensor cross(const Operand& a, const Operand& b) { return two(RW_OP("Cross"), a, b); }
Tensor cholesky(const Operand& input) { return one(RW_OP("Cholesky"), input); }

Tensor cholesky_solve(const Operand& chol, const Operand& rhs) {
  return triangular_solve(chol, triangular_solve(chol, rhs), {.adjoint = true});
}

Tensor triangular_solve(const Operand& matrix, const Operand& rhs, TriangularSolveOptions options) {
  const OperandPair p = unify(matrix, rhs);
  return apply_one(RW_OP("MatrixTriangularSolve"), {&p.a, &p.b},
                   {{"lower", options.lower}, {"adjoint", options.adjoint}});
}

Tensor solve(const Operand& matrix, const Operand& rhs, bool adjoint) {
  const OperandPair p = unify(matrix, rhs);
  return apply_one(RW_OP("MatrixSolve"), {&p.a, &p.b}, {{"adjoint", adjoint}});
}

Tensor inv(const Operand& input, bool adjoint) {
  return apply_one(RW_OP("MatrixInverse"), {&input.tensor()}, {{"adjoint", adjoint}});
}

Tensor lstsq(const Operand& matrix, const Operand& rhs, LstsqOptions options) {
  const OperandPair p = unify(matrix, rhs);
  const Tensor l2 = constant(options.l2_regularizer, DType::kFloat64);
  return apply_one(RW_OP("MatrixSolveLs"), {&p.a, &p.b, &l2}, {{"fast", options.fast}});
}

Tensor det(const Operand& input) { return one(RW_OP("MatrixDeterminant"), input); }

SignAndLogDet slogdet(const Operand& input) {
  Tensors out = apply(RW_OP("LogMatrixDeterminant"), {&input.tensor()});
  return {out[0], out[1]};
}

Tensor logdet(const Operand& matrix) {
  const Tensor diagonal = diag_part(cholesky(matrix));
  const Tensor logs = apply_one(RW_OP("Log"), {&diagonal});
  const Tensor axis = last_axis_of(-1);
  return 2.0 * apply_one(RW_OP("Sum"), {&logs, &axis});
}

LuResult lu(const Operand& input, DType output_idx_type) {
  Tensors out = apply(RW_OP("Lu"), {&input.tensor()}, {{"output_idx_type", output_idx_type}});
  return {out[0], out[1]};
}

QrResult qr(const Operand& input, bool full_matrices) {
  Tensors out = apply(RW_OP("Qr"), {&input.tensor()}, {{"full_matrices", full_matrices}});
  return {out[0], out[1]};
}

SvdResult svd(const Operand& tensor, SvdOptions options) {
  Tensors out = apply(RW_OP("Svd"), {&tensor.tensor()},
                      {{"compute_uv", options.compute_uv}, {"full_matrices", options.full_matrices}});
  if (!options.compute_uv) return {out[0], {}, {}};
  return {out[0], out[1], out[2]};
}

EighResult eigh(const Operand& tensor) {
  Tensors out = apply(RW_OP("SelfAdjointEigV2"), {&tensor.tensor()});
  return {out[0], out[1]};
}

Tensor eigvalsh(const Operand& tensor) {
  return apply(RW_OP("SelfAdjointEigV2"), {&tensor.tensor()}, {{"compute_v", false}})[0];
}

Tensor sqrtm(const Operand& input) { return one(RW_OP("MatrixSquareRoot"), input); }

Tensor band_part(const Operand& input, int64_t num_lower, int64_t num_upper) {
  const Tensor lower = constant(num_lower);
  const Tensor upper = constant(num_upper);
  return apply_one(RW_OP("MatrixBandPart"), {&input.tensor(), &lower, &upper});
}

Tensor diag(const Operand& diagonal, const DiagOptions& options) {
  const Tensor& x = diagonal.tensor();
  const Tensor k = diagonals_of(options.k);
  const Tensor rows = constant(options.num_rows);
  const Tensor cols = constant(options.num_cols);
  const Tensor padding = constant(options.padding_value, x.dtype());
  return apply_one(RW_OP("MatrixDiagV3"), {&x, &k, &rows, &cols, &padding}, {{"align", options.align}});
}

Tensor diag_part(const Operand& input, const DiagPartOptions& options) {
  const Tensor& x = input.tensor();
  const Tensor k = diagonals_of(options.k);
  const Tensor padding = constant(options.padding_value, x.dtype());
  return apply_one(RW_OP("MatrixDiagPartV3"), {&x, &k, &padding}, {{"align", options.align}});
}

Tensor set_diag(const Operand& input, const Operand& diagonal, const SetDiagOptions& options) {
  const OperandPair p = unify(input, diagonal);
  const Tensor k = diagonals_of(options.k);
  return apply_one(RW_OP("MatrixSetDiagV3"), {&p.a, &p.b, &k}, {{"align", options.align}});
}

Tensor tensor_diag(const Operand& diagonal) { return one(RW_OP("Diag"), diagonal); }
Tensor tensor_diag_part(const Operand& input) { return one(RW_OP("DiagPart"), input); }

}  // namespace rw::linalg

namespace rw::math {

Tensor l2_normalize(const Operand& x, const std::vector<int64_t>& axis, double epsilon) {
  const Tensor& t = x.tensor();
  const Tensor squares = apply_one(RW_OP("Square"), {&t});
  const Tensor axes = constant(axis);
  const Tensor sums = apply_one(RW_OP("Sum"), {&squares, &axes}, {{"keep_dims", true}});
  const Tensor least = constant(epsilon, t.dtype());
  const Tensor bounded = apply_one(RW_OP("Maximum"), {&sums, &least});
  return t * apply_one(RW_OP("Rsqrt"), {&bounded});
}

}  // namespace rw::math
