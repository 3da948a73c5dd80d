// Gradients of the orthogonal factorisations. They hold where the factors are differentiable: full rank for
// QR, distinct eigenvalues and singular values for vectors; where two are equal the term between them is left
// out.
#include <algorithm>

#include "rewind/autodiff/grad_ops.h"
#include "rewind/autodiff/gradients/linalg.h"
#include "rewind/autodiff/rule.h"
#include "rewind/base/error.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/linalg.h"

namespace rw {
namespace {

using namespace linalg;

Tensor expanded(const Tensor& x, int axis) {
  const Tensor at = constant(axis);
  return apply_one(RW_OP("ExpandDims"), {&x, &at});
}

// 1 / x, and 0 at 0.
Tensor safe_reciprocal(const Tensor& x) {
  const Tensor denominator = x * x + 1e-20;
  return apply_one(RW_OP("RealDiv"), {&x, &denominator});
}

// 1 / (x_j - x_i) off the diagonal, 0 on it.
Tensor inverse_gaps(const Tensor& x) {
  const Tensor gaps = safe_reciprocal(expanded(x, -2) - expanded(x, -1));
  return set_diag(gaps, apply_one(RW_OP("ZerosLike"), {&x}));
}

// The rules of tall and wide matrices differ. Axes in front of the matrices may be unknown.
void require_known_matrix(const char* tag, const Shape& shape) {
  if (!shape.has_rank() || shape[shape.rank() - 2] < 0 || shape.back() < 0)
    fail_unimplemented(tag, "the gradient needs the matrices' sizes: the shape is " + shape.to_string());
}

// Columns [begin, begin + count) of the last axis.
Tensor columns(const Tensor& x, int64_t begin, int64_t count) {
  const int rank = x.rank();
  if (begin == 0 && x.dim(-1) == count) return x;
  std::vector<int32_t> from(size_t(rank), 0), size(size_t(rank), -1);
  from.back() = int32_t(begin);
  size.back() = int32_t(count);
  const Tensor begins = constant(from);
  const Tensor sizes = constant(size);
  return apply_one(RW_OP("Slice"), {&x, &begins, &sizes});
}

// x r^-T.
Tensor divide_by_upper(const Tensor& x, const Tensor& r) {
  return matrix_transpose(triangular_solve(r, matrix_transpose(x), {.lower = false}));
}

Tensor qr_of_tall(const Tensor& q, const Tensor& r, const Tensor& dq, const Tensor& dr) {
  const Tensor qdq = matmul(q, dq, {.adjoint_a = true});
  const Tensor rdr = matmul(r, dr, {.adjoint_b = true});
  const Tensor skew = (qdq - matrix_transpose(qdq)) + (rdr - matrix_transpose(rdr));
  const Tensor inside = matmul(q, dr + divide_by_upper(band_part(skew, -1, 0), r));
  return inside + divide_by_upper(dq - matmul(q, qdq), r);
}

void qr_rule(GradContext& g) {
  const Tensor& q = g.output(0);
  const Tensor& r = g.output(1);
  const Shape& shape = g.input_shape(0);
  require_known_matrix("qr", shape);
  const int64_t m = shape[shape.rank() - 2];
  const int64_t n = shape.back();
  if (m > n && g.output_shape(0).back() == m)
    fail_unimplemented("qr", "there is no gradient for full_matrices of a tall matrix");
  if (m >= n) return g.set(0, qr_of_tall(q, r, g.grad(0), g.grad(1)));
  // A wide matrix is [x, y]: q and the left of r are those of x, and the right of r is qᵀ y.
  const Tensor y = columns(g.input(0), m, n - m);
  const Tensor dv = columns(g.grad(1), m, n - m);
  const Tensor dx = qr_of_tall(q, columns(r, 0, m), g.grad(0) + matmul(y, dv, {.adjoint_b = true}),
                               columns(g.grad(1), 0, m));
  const Tensor dy = matmul(q, dv);
  const Tensor axis = constant(-1);
  g.set(0, apply_one(RW_OP("ConcatV2"), {&dx, &dy, &axis}));
}

void eigh_rule(GradContext& g) {
  Tensor v, middle;
  if (g.attr<bool>("compute_v")) {
    const Tensor& e = g.output(0);
    v = g.output(1);
    middle = diag(g.grad(0));
    if (g.has_grad(1)) middle = middle + inverse_gaps(e) * matmul(v, g.grad(1), {.adjoint_a = true});
  } else {
    v = eigh(g.input(0)).v;
    middle = diag(g.grad(0));
  }
  const Tensor d = matmul(v, matmul(middle, v, {.adjoint_b = true}));
  // Only the lower triangle is read, and stands for both.
  const Tensor both = band_part(d + matrix_transpose(d), -1, 0);
  g.set(0, set_diag(both, 0.5 * diag_part(both)));
}

// m <= n: u is (m, m), v is (n, m) or (n, n).
Tensor svd_of_wide(const Tensor& s, const Tensor& u, const Tensor& v, const Tensor& ds, const Tensor& du,
                   const Tensor& dv, int64_t m, int64_t n, bool full) {
  const Tensor v1 = columns(v, 0, m);
  const Tensor dv1 = columns(dv, 0, m);
  const Tensor gaps = inverse_gaps(s * s);
  const Tensor in_u = gaps * matmul(u, du, {.adjoint_a = true});
  const Tensor in_v = gaps * matmul(v1, dv1, {.adjoint_a = true});
  const Tensor rows = expanded(s, -1);
  const Tensor cols = expanded(s, -2);
  const Tensor core =
      diag(ds) + (in_u + matrix_transpose(in_u)) * cols + rows * (in_v + matrix_transpose(in_v));
  Tensor d = matmul(u, matmul(core, v1, {.adjoint_b = true}));
  if (m == n) return d;
  const Tensor turned = matrix_transpose(dv1);
  Tensor outside = turned - matmul(matmul(turned, v1), v1, {.adjoint_b = true});
  if (full) {
    const Tensor v2 = columns(v, m, n - m);
    const Tensor dv2 = columns(dv, m, n - m);
    outside = outside - matmul(matmul(v1, dv2, {.adjoint_a = true}), v2, {.adjoint_b = true});
  }
  return d + matmul(u * expanded(safe_reciprocal(s), -2), outside);
}

void svd_rule(GradContext& g) {
  if (!g.attr<bool>("compute_uv")) {
    const SvdResult f = svd(g.input(0));
    return g.set(0, matmul(f.u * expanded(g.grad(0), -2), f.v, {.adjoint_b = true}));
  }
  const Shape& shape = g.input_shape(0);
  require_known_matrix("svd", shape);
  const int64_t m = shape[shape.rank() - 2];
  const int64_t n = shape.back();
  const bool full = g.attr<bool>("full_matrices");
  if (full && std::abs(m - n) > 1)
    fail_unimplemented(
        "svd", "there is no gradient for full_matrices when rows and columns differ by more than one");
  const Tensor& s = g.output(0);
  if (m <= n)
    return g.set(0, svd_of_wide(s, g.output(1), g.output(2), g.grad(0), g.grad(1), g.grad(2), m, n, full));
  g.set(0, matrix_transpose(
               svd_of_wide(s, g.output(2), g.output(1), g.grad(0), g.grad(2), g.grad(1), n, m, full)));
}

// X² = A gives X dX + dX X = dA, so the gradient D solves Xᵀ D + D Xᵀ = G: a linear system in the n² entries
// of D by rows, with the matrix Xᵀ ⊗ I + I ⊗ X.
void square_root_rule(GradContext& g) {
  const Tensor& x = g.output(0);
  const Sizes sizes = output_sizes(g, 0);
  const Size& n = sizes.back();
  const Tensor diagonal = diag_part(x);
  const Tensor eye = diag(apply_one(RW_OP("OnesLike"), {&diagonal}));
  Sizes wide(sizes.begin(), sizes.end() - 2);
  Sizes tall = wide;
  for (int i = 0; i < 2; ++i) wide.push_back(n * n);
  tall.push_back(n * n);
  tall.emplace_back(1);
  const Tensor system = einsum("...ji,...kl->...ikjl", x, eye) + einsum("...ij,...kl->...ikjl", eye, x);
  g.set(0, reshape_sizes(solve(reshape_sizes(system, wide), reshape_sizes(g.grad(), tall)), sizes));
}

}  // namespace

void register_linalg_factor_gradients() {
  register_gradient("Qr", kNeedsAll, qr_rule);
  register_gradient("SelfAdjointEigV2", kNeedsAll, eigh_rule);
  register_gradient("Svd", kNeedsAll, svd_rule);
  register_gradient("MatrixSquareRoot", kNeedsOutputs, square_root_rule);
  register_not_differentiable("CholeskyGrad");
}

}  // namespace rw
