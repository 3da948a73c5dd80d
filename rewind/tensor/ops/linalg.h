// tf.linalg: factorisations, solvers, diagonals. Matrices are the last two axes; what stands before them is a
// batch.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "rewind/tensor/operand.h"
#include "rewind/tensor/ops/matmul.h"

namespace rw::linalg {

using rw::einsum;
using rw::matmul;
using rw::tensordot;

// a (..., m, n) times b (..., n).
struct MatvecOptions {
  bool transpose_a = false;
  bool adjoint_a = false;
};
Tensor matvec(const Operand& a, const Operand& b, MatvecOptions options = {});
Tensor matrix_transpose(const Operand& a);
Tensor adjoint(const Operand& matrix);
Tensor trace(const Operand& x);
Tensor cross(const Operand& a, const Operand& b);

// The lower factor; only the lower triangle is read. NaN where the matrix is not positive definite.
Tensor cholesky(const Operand& input);
// Solves A x = rhs, given A's Cholesky factor.
Tensor cholesky_solve(const Operand& chol, const Operand& rhs);
struct TriangularSolveOptions {
  bool lower = true;
  bool adjoint = false;
};
Tensor triangular_solve(const Operand& matrix, const Operand& rhs, TriangularSolveOptions options = {});
// Throws InvalidArgumentError for a singular matrix, as does inv.
Tensor solve(const Operand& matrix, const Operand& rhs, bool adjoint = false);
Tensor inv(const Operand& input, bool adjoint = false);
struct LstsqOptions {
  double l2_regularizer = 0.0;
  bool fast = true;  // by the normal equations; otherwise the solution of least norm, which is safe and slow
};
Tensor lstsq(const Operand& matrix, const Operand& rhs, LstsqOptions options = {});
Tensor pinv(const Operand& a);

Tensor det(const Operand& input);
struct SignAndLogDet {
  Tensor sign, log_abs_determinant;
};
SignAndLogDet slogdet(const Operand& input);
// Of a positive definite matrix.
Tensor logdet(const Operand& matrix);

struct LuResult {
  Tensor lu, p;
};
LuResult lu(const Operand& input, DType output_idx_type = DType::kInt32);
struct QrResult {
  Tensor q, r;
};
QrResult qr(const Operand& input, bool full_matrices = false);
struct SvdOptions {
  bool full_matrices = false;
  bool compute_uv = true;
};
struct SvdResult {
  Tensor s, u, v;  // without compute_uv, u and v are undefined
};
SvdResult svd(const Operand& tensor, SvdOptions options = {});
struct EighResult {
  Tensor e, v;
};
EighResult eigh(const Operand& tensor);
Tensor eigvalsh(const Operand& tensor);

Tensor expm(const Operand& input);
Tensor sqrtm(const Operand& input);

// Keeps num_lower diagonals below the main one and num_upper above it; negative: all.
Tensor band_part(const Operand& input, int64_t num_lower, int64_t num_upper);

// Diagonals k[0] to k[1] of a matrix; 0 is the main one, positive ones lie above it.
struct Diagonals {
  int low = 0, high = 0;
  Diagonals(int k = 0) : low(k), high(k) {}                   // NOLINT: one diagonal is a number
  Diagonals(int first, int last) : low(first), high(last) {}  // NOLINT: written {-1, 1}
};
struct DiagOptions {
  Diagonals k;
  int num_rows = -1;
  int num_cols = -1;
  double padding_value = 0;
  std::string align = "RIGHT_LEFT";
};
Tensor diag(const Operand& diagonal, const DiagOptions& options = {});
struct DiagPartOptions {
  Diagonals k;
  double padding_value = 0;
  std::string align = "RIGHT_LEFT";
};
Tensor diag_part(const Operand& input, const DiagPartOptions& options = {});
struct SetDiagOptions {
  Diagonals k;
  std::string align = "RIGHT_LEFT";
};
Tensor set_diag(const Operand& input, const Operand& diagonal, const SetDiagOptions& options = {});
Tensor tensor_diag(const Operand& diagonal);
Tensor tensor_diag_part(const Operand& input);

}  // namespace rw::linalg

namespace rw::math {

// x / sqrt(max(sum(x²), epsilon)) along the axes.
Tensor l2_normalize(const Operand& x, const std::vector<int64_t>& axis, double epsilon = 1e-12);
inline Tensor l2_normalize(const Operand& x, int64_t axis, double epsilon = 1e-12) {
  return l2_normalize(x, std::vector<int64_t>{axis}, epsilon);
}

}  // namespace rw::math

namespace rw::linalg {
using rw::math::l2_normalize;
}
