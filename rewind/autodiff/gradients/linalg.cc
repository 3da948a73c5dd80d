// Gradients of solvers, determinants, diagonals and bands. Those of the orthogonal factorisations are in
// linalg_factor.cc.
#include "rewind/autodiff/gradients/linalg.h"

#include "rewind/autodiff/grad_ops.h"
#include "rewind/autodiff/rule.h"
#include "rewind/base/error.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/linalg.h"

namespace rw {
namespace {

using namespace linalg;

constexpr Needs kNeedsFirstOutput{0, 1};

// A batch of numbers as (..., 1, 1).
Tensor as_matrices(const Tensor& x) {
  Tensor out = x;
  for (int i = 0; i < 2; ++i) {
    const Tensor axis = constant(-1);
    out = apply_one(RW_OP("ExpandDims"), {&out, &axis});
  }
  return out;
}

void cholesky_rule(GradContext& g) {
  const Tensor& l = g.output(0);
  const Tensor p = matmul(l, g.grad(), {.adjoint_a = true});
  const Tensor halved = set_diag(p, 0.5 * diag_part(p));
  // L^-T P L^-1 = solve(Lᵀ, (solve(Lᵀ, Pᵀ))ᵀ)
  const Tensor left = triangular_solve(l, band_part(halved, -1, 0), {.adjoint = true});
  const Tensor both = matrix_transpose(triangular_solve(l, matrix_transpose(left), {.adjoint = true}));
  g.set(0, 0.5 * (both + matrix_transpose(both)));
}

void inverse(GradContext& g) {
  const Tensor& inv = g.output(0);
  const bool adjoint = g.attr<bool>("adjoint");
  // With Y = A^-1: -Yᵀ G Yᵀ; with Y = A^-T: -(Yᵀ G Yᵀ)ᵀ = -Y Gᵀ Y.
  const Tensor d = adjoint ? matmul(matmul(inv, g.grad(), {.adjoint_b = true}), inv)
                           : matmul(matmul(inv, g.grad(), {.adjoint_a = true}), inv, {.adjoint_b = true});
  g.set(0, -d);
}

void solve_rule(GradContext& g) {
  const bool adjoint = g.attr<bool>("adjoint");
  const Tensor grad_b = solve(g.input(0), g.grad(), !adjoint);
  if (g.wants(1)) g.set(1, grad_b);
  if (!g.wants(0)) return;
  const Tensor& x = g.output(0);
  g.set(0, -(adjoint ? matmul(x, grad_b, {.adjoint_b = true}) : matmul(grad_b, x, {.adjoint_b = true})));
}

void triangular_solve_rule(GradContext& g) {
  const bool adjoint = g.attr<bool>("adjoint");
  const bool lower = g.attr<bool>("lower");
  const Tensor grad_b = triangular_solve(g.input(0), g.grad(), {.lower = lower, .adjoint = !adjoint});
  if (g.wants(0)) {
    const Tensor& x = g.output(0);
    const Tensor d =
        -(adjoint ? matmul(x, grad_b, {.adjoint_b = true}) : matmul(grad_b, x, {.adjoint_b = true}));
    g.set(0, sum_to_input(lower ? band_part(d, -1, 0) : band_part(d, 0, -1), g, 0));
  }
  if (g.wants(1)) g.set(1, sum_to_input(grad_b, g, 1));
}

// The Cholesky factor of aᵀa + l2 I, or of aaᵀ + l2 I.
Tensor gramian_factor(const Tensor& a, const Tensor& l2, bool of_columns) {
  const Tensor gram = of_columns ? matmul(a, a, {.adjoint_a = true}) : matmul(a, a, {.adjoint_b = true});
  const Tensor shift = apply_one(RW_OP("Cast"), {&l2}, {{"DstT", a.dtype()}});
  return cholesky(set_diag(gram, diag_part(gram) + shift));
}

struct LeastSquaresGrads {
  Tensor a, b;
};

// More rows than columns: x = (aᵀa + l2 I)^-1 aᵀ b.
LeastSquaresGrads least_squares_of_tall(GradContext& g, const Tensor& l2) {
  const Tensor &a = g.input(0), &b = g.input(1), &x = g.output(0);
  const Tensor z = cholesky_solve(gramian_factor(a, l2, true), g.grad());
  const Tensor xz = matmul(x, z, {.adjoint_b = true});
  LeastSquaresGrads grads;
  if (g.wants(0)) grads.a = matmul(b, z, {.adjoint_b = true}) - matmul(a, xz + matrix_transpose(xz));
  if (g.wants(1)) grads.b = matmul(a, z);
  return grads;
}

// More columns than rows: x = aᵀ (aaᵀ + l2 I)^-1 b.
LeastSquaresGrads least_squares_of_wide(GradContext& g, const Tensor& l2) {
  const Tensor &a = g.input(0), &b = g.input(1);
  const Tensor factor = gramian_factor(a, l2, false);
  LeastSquaresGrads grads;
  grads.b = cholesky_solve(factor, matmul(a, g.grad()));
  if (!g.wants(0)) return grads;
  const Tensor y = cholesky_solve(factor, b);
  const Tensor first = matmul(grads.b, matmul(y, a, {.adjoint_a = true}));
  const Tensor rest = g.grad() - matmul(a, grads.b, {.adjoint_a = true});
  grads.a = matmul(y, rest, {.adjoint_b = true}) - first;
  return grads;
}

void least_squares(GradContext& g) {
  if (!g.attr<bool>("fast")) fail_unimplemented("lstsq", "there is no gradient for fast = false");
  const Sizes sizes = input_sizes(g, 0);
  const Size &rows = sizes[sizes.size() - 2], &columns = sizes.back();
  const Tensor& l2 = g.input(2);
  LeastSquaresGrads grads;
  if (rows.known() && columns.known()) {
    grads = rows.number() >= columns.number() ? least_squares_of_tall(g, l2) : least_squares_of_wide(g, l2);
  } else {
    // Both ways, and the one that holds is chosen when sizes are known. The other one solves a system that is
    // regular all the same.
    const Tensor tall = rows.tensor() >= columns.tensor();
    const Tensor one = apply_one(RW_OP("OnesLike"), {&l2});
    const LeastSquaresGrads if_tall = least_squares_of_tall(g, where(tall, l2, one));
    const LeastSquaresGrads if_wide = least_squares_of_wide(g, where(tall, one, l2));
    if (g.wants(0)) grads.a = where(tall, if_tall.a, if_wide.a);
    if (g.wants(1)) grads.b = where(tall, if_tall.b, if_wide.b);
  }
  for (const int i : {0, 1})
    if (g.wants(i)) g.set(i, i == 0 ? grads.a : grads.b);
}

// A[p] = L U, packed in one matrix: dA[p] = L^-T (tril(L^T dL, -1) + triu(dU U^T)) U^-T.
void lu_rule(GradContext& g) {
  Sizes sizes = input_sizes(g, 0);
  const Size n = sizes.back();
  sizes.pop_back();
  if (n.known() && sizes.back().known() && n.number() != sizes.back().number())
    fail_unimplemented("lu", "gradients are for square matrices: got " + g.input_shape(0).to_string());
  const Tensor& packed = g.output(0);
  const Tensor ones = fill_sizes(sizes, scalar_tensor(int64_t{1}, packed.dtype()));
  const Tensor lower = set_diag(band_part(packed, -1, 0), ones);
  const Tensor upper = band_part(packed, 0, -1);
  const Tensor in_lower = matmul(lower, g.grad() - band_part(g.grad(), 0, -1), {.adjoint_a = true});
  const Tensor in_upper = matmul(band_part(g.grad(), 0, -1), upper, {.adjoint_b = true});
  const Tensor phi = (in_lower - band_part(in_lower, 0, -1)) + band_part(in_upper, 0, -1);
  const Tensor half = triangular_solve(lower, phi, {.lower = true, .adjoint = true});
  const Tensor permuted = matrix_transpose(triangular_solve(upper, matrix_transpose(half), {.lower = false}));
  // Row i of dA[p] is row p[i] of dA: multiply by the transposed permutation matrix.
  const Tensor depth = n.tensor(DType::kInt32);
  const Tensor on = scalar_tensor(int64_t{1}, packed.dtype());
  const Tensor off = scalar_tensor(int64_t{0}, packed.dtype());
  const Tensor permutation = apply_one(RW_OP("OneHot"), {&g.output(1), &depth, &on, &off});
  g.set(0, matmul(permutation, permuted, {.adjoint_a = true}));
}

void matrix_diag_part_rule(GradContext& g, const Tensor* k, const char* align) {
  const Tensor zeros = zeros_like_input(g, 0);
  if (!k) {
    g.set(0, apply_one(RW_OP("MatrixSetDiag"), {&zeros, &g.grad()}));
    return;
  }
  const Attrs attrs{{"align", align ? g.attr<std::string>("align") : std::string("LEFT_LEFT")}};
  g.set(0, apply_one(RW_OP("MatrixSetDiagV3"), {&zeros, &g.grad(), k}, attrs));
}

Tensor part_like(GradContext& g, const Tensor& k) {
  const Tensor padding = scalar_tensor(0.0, g.grad().dtype());
  const bool aligned = g.op().find_attr("align") != nullptr;
  const Attrs attrs{{"align", aligned ? g.attr<std::string>("align") : std::string("LEFT_LEFT")}};
  return apply_one(RW_OP("MatrixDiagPartV3"), {&g.grad(), &k, &padding}, attrs);
}

}  // namespace

void register_linalg_gradients() {
  register_gradient("Cholesky", kNeedsFirstOutput, cholesky_rule);
  register_gradient("Lu", kNeedsOutputs, lu_rule);
  register_gradient("MatrixInverse", kNeedsFirstOutput, inverse);
  register_gradient("MatrixDeterminant", kNeedsAll, [](GradContext& g) {
    g.set(0, as_matrices(g.grad() * g.output(0)) * inv(g.input(0), true));
  });
  register_gradient("LogMatrixDeterminant", kNeedsInputs,
                    [](GradContext& g) { g.set(0, as_matrices(g.grad(1)) * inv(g.input(0), true)); });
  register_gradient("MatrixSolve", {1, 1}, solve_rule);
  register_gradient("MatrixTriangularSolve", {1, 1}, triangular_solve_rule);
  register_gradient("MatrixSolveLs", kNeedsAll, least_squares);
  register_gradient("Cross", kNeedsInputs, [](GradContext& g) {
    if (g.wants(0)) g.set(0, linalg::cross(g.input(1), g.grad()));
    if (g.wants(1)) g.set(1, linalg::cross(g.grad(), g.input(0)));
  });

  register_gradient("Diag", kNeedsNothing, [](GradContext& g) { g.set(0, tensor_diag_part(g.grad())); });
  register_gradient("DiagPart", kNeedsNothing, [](GradContext& g) { g.set(0, tensor_diag(g.grad())); });
  register_gradient("MatrixBandPart", needs_inputs({1, 2}), [](GradContext& g) {
    g.set(0, apply_one(RW_OP("MatrixBandPart"), {&g.grad(), &g.input(1), &g.input(2)}));
  });
  register_gradient("MatrixDiag", kNeedsNothing,
                    [](GradContext& g) { g.set(0, apply_one(RW_OP("MatrixDiagPart"), {&g.grad()})); });
  register_gradient("MatrixDiagPart", kNeedsNothing,
                    [](GradContext& g) { matrix_diag_part_rule(g, nullptr, nullptr); });
  register_gradient("MatrixSetDiag", kNeedsNothing, [](GradContext& g) {
    if (g.wants(0)) {
      const Tensor zeros = zeros_like_input(g, 1);
      g.set(0, apply_one(RW_OP("MatrixSetDiag"), {&g.grad(), &zeros}));
    }
    if (g.wants(1)) g.set(1, apply_one(RW_OP("MatrixDiagPart"), {&g.grad()}));
  });
  for (const char* version : {"V2", "V3"}) {
    const std::string v = version;
    register_gradient("MatrixDiag" + v, needs_inputs({1}), [](GradContext& g) {
      if (g.wants(0)) g.set(0, part_like(g, g.input(1)));
    });
    register_gradient("MatrixDiagPart" + v, needs_inputs({1}), [](GradContext& g) {
      if (g.wants(0)) matrix_diag_part_rule(g, &g.input(1), g.op().find_attr("align") ? "align" : nullptr);
    });
    register_gradient("MatrixSetDiag" + v, needs_inputs({2}), [](GradContext& g) {
      if (g.wants(0)) {
        const Tensor zeros = zeros_like_input(g, 1);
        const bool aligned = g.op().find_attr("align") != nullptr;
        const Attrs attrs{{"align", aligned ? g.attr<std::string>("align") : std::string("LEFT_LEFT")}};
        g.set(0, apply_one(RW_OP("MatrixSetDiagV3"), {&g.grad(), &zeros, &g.input(2)}, attrs));
      }
      if (g.wants(1)) g.set(1, part_like(g, g.input(2)));
    });
  }
  register_linalg_factor_gradients();
}

}  // namespace rw
