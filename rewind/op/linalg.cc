// Factorisations and solvers: rows and shape rules. All work on the last two axes.
#include "rewind/op/linalg.h"

#include <algorithm>

#include "rewind/op/table.h"

namespace rw {
namespace {

// An input's leading axes and its last two.
struct Matrix {
  Shape batch;
  int64_t rows = Shape::kUnknown;
  int64_t cols = Shape::kUnknown;

  Shape with(std::initializer_list<int64_t> last) const {
    if (!batch.has_rank()) return Shape::unknown_rank();
    Shape s = batch;
    for (const int64_t d : last) s.append(d);
    return s;
  }
};

Matrix matrix(const ShapeContext& ctx, int i) {
  const Shape& s = ctx.input(i);
  if (!s.has_rank()) return {Shape::unknown_rank()};
  if (s.rank() < 2) ctx.fail("rank must be at least 2: " + ctx.describe(i));
  return {Shape(s.dims().first(size_t(s.rank() - 2))), s[s.rank() - 2], s[s.rank() - 1]};
}

Matrix square(const ShapeContext& ctx, int i) {
  Matrix m = matrix(ctx, i);
  if (m.rows == Shape::kUnknown) m.rows = m.cols;
  if (m.cols == Shape::kUnknown) m.cols = m.rows;
  if (m.rows != m.cols) ctx.fail("the last two sizes must be equal: " + ctx.describe(i));
  return m;
}

int64_t smaller(int64_t a, int64_t b) {
  return a == Shape::kUnknown || b == Shape::kUnknown ? Shape::kUnknown : std::min(a, b);
}

void require_rows(const ShapeContext& ctx, const Matrix& a, const Matrix& b) {
  if (a.rows != b.rows && a.rows != Shape::kUnknown && b.rows != Shape::kUnknown)
    ctx.fail("matrix and rhs must have equally many rows: " + ctx.describe(0) + ", " + ctx.describe(1));
}

void require_batches(const ShapeContext& ctx, const Matrix& a, const Matrix& b) {
  if (!a.batch.compatible_with(b.batch))
    ctx.fail("leading sizes must be equal: " + ctx.describe(0) + ", " + ctx.describe(1));
}

void square_shape(ShapeContext& ctx) {
  square(ctx, 0);
  ctx.output(0, ctx.input(0));
}

void cholesky_grad_shape(ShapeContext& ctx) {
  const Matrix l = square(ctx, 0);
  const Matrix grad = square(ctx, 1);
  require_rows(ctx, l, grad);
  require_batches(ctx, l, grad);
  ctx.output(0, ctx.input(0));
}

void determinant_shape(ShapeContext& ctx) {
  const Matrix a = square(ctx, 0);
  for (int i = 0; i < ctx.num_outputs(); ++i) ctx.output(i, a.batch);
}

void solve_shape(ShapeContext& ctx) {
  const Matrix a = square(ctx, 0);
  const Matrix b = matrix(ctx, 1);
  require_rows(ctx, a, b);
  require_batches(ctx, a, b);
  ctx.output(0, b.with({a.cols, b.cols}));
}

void triangular_solve_shape(ShapeContext& ctx) {
  const Matrix a = square(ctx, 0);
  const Matrix b = matrix(ctx, 1);
  require_rows(ctx, a, b);
  Matrix out;
  if (!broadcast_shapes(a.batch, b.batch, &out.batch))
    ctx.fail("leading sizes must broadcast: " + ctx.describe(0) + ", " + ctx.describe(1));
  ctx.output(0, out.with({a.cols, b.cols}));
}

void least_squares_shape(ShapeContext& ctx) {
  const Matrix a = matrix(ctx, 0);
  const Matrix b = matrix(ctx, 1);
  require_rows(ctx, a, b);
  require_batches(ctx, a, b);
  ctx.require_scalar(2);
  ctx.output(0, b.with({a.cols, b.cols}));
}

void lu_shape(ShapeContext& ctx) {
  const Matrix a = square(ctx, 0);
  ctx.output(0, ctx.input(0));
  ctx.output(1, a.with({a.rows}));
}

void qr_shape(ShapeContext& ctx) {
  const Matrix a = matrix(ctx, 0);
  const int64_t p = smaller(a.rows, a.cols);
  const bool full = ctx.attr<bool>("full_matrices");
  ctx.output(0, a.with({a.rows, full ? a.rows : p}));
  ctx.output(1, a.with({full ? a.rows : p, a.cols}));
}

void svd_shape(ShapeContext& ctx) {
  const Matrix a = matrix(ctx, 0);
  const int64_t p = smaller(a.rows, a.cols);
  ctx.output(0, a.with({p}));
  if (!ctx.attr<bool>("compute_uv")) return;  // u and v are scalars without meaning
  const bool full = ctx.attr<bool>("full_matrices");
  ctx.output(1, a.with({a.rows, full ? a.rows : p}));
  ctx.output(2, a.with({a.cols, full ? a.cols : p}));
}

void eigen_shape(ShapeContext& ctx) {
  const Matrix a = square(ctx, 0);
  ctx.output(0, a.with({a.rows}));
  if (ctx.attr<bool>("compute_v")) ctx.output(1, ctx.input(0));
}

void cross_shape(ShapeContext& ctx) {
  const Shape& a = ctx.input(0);
  const Shape& b = ctx.input(1);
  if (!a.compatible_with(b)) ctx.fail("shapes must be equal: " + ctx.describe(0) + ", " + ctx.describe(1));
  for (int i = 0; i < 2; ++i) {
    const Shape& s = ctx.input(i);
    if (s.has_rank() && (s.rank() < 1 || (s.back() != 3 && s.back() != Shape::kUnknown)))
      ctx.fail("the last size must be 3: " + ctx.describe(i));
  }
  ctx.output(0, a.has_rank() ? a : b);
}

constexpr const char* kFactorTypes = "T: {double, float, half, complex64, complex128}";

}  // namespace

void register_linalg_ops(OpTable& t) {
  const std::string types = kFactorTypes;
  t.add("Cholesky(input: T) -> (output: T); " + types).shape(square_shape).tag("cholesky");
  t.add("CholeskyGrad(l: T, grad: T) -> (output: T); T: {half, float, double}").shape(cholesky_grad_shape);
  t.add(
       "MatrixTriangularSolve(matrix: T, rhs: T) -> (output: T); lower: bool = true; adjoint: bool = false; "
       "T: {bfloat16, double, float, half, complex64, complex128}")
      .shape(triangular_solve_shape)
      .tag("triangular_solve");
  t.add("MatrixSolve(matrix: T, rhs: T) -> (output: T); adjoint: bool = false; " + types)
      .shape(solve_shape)
      .tag("solve");
  t.add("MatrixInverse(input: T) -> (output: T); adjoint: bool = false; " + types)
      .shape(square_shape)
      .tag("inv");
  t.add("MatrixDeterminant(input: T) -> (output: T); T: {half, float, double, complex64, complex128}")
      .shape(determinant_shape)
      .tag("det");
  t.add(
       "LogMatrixDeterminant(input: T) -> (sign: T, log_abs_determinant: T); "
       "T: {half, float, double, complex64, complex128}")
      .shape(determinant_shape)
      .tag("slogdet");
  t.add("Lu(input: T) -> (lu: T, p: output_idx_type); " + types + "; output_idx_type: {int32, int64} = int32")
      .shape(lu_shape)
      .tag("lu");
  t.add("MatrixSolveLs(matrix: T, rhs: T, l2_regularizer: double) -> (output: T); " + types +
        "; fast: bool = true")
      .shape(least_squares_shape)
      .host({"l2_regularizer"})
      .tag("lstsq");
  t.add("Qr(input: T) -> (q: T, r: T); full_matrices: bool = false; " + types).shape(qr_shape).tag("qr");
  t.add("Svd(input: T) -> (s: T, u: T, v: T); compute_uv: bool = true; full_matrices: bool = false; " + types)
      .shape(svd_shape)
      .tag("svd");
  t.add("SelfAdjointEigV2(input: T) -> (e: T, v: T); compute_v: bool = true; " + types)
      .shape(eigen_shape)
      .tag("eigh");
  t.add("MatrixSquareRoot(input: T) -> (output: T); " + types).shape(square_shape).tag("sqrtm");
  t.add(
       "Cross(a: T, b: T) -> (product: T); T: {float, double, int32, uint8, int16, int8, int64, bfloat16, "
       "uint16, half, "
       "uint32, uint64}")
      .shape(cross_shape)
      .tag("cross");
  register_linalg_diag_ops(t);
}

}  // namespace rw
