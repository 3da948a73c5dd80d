// Diagonals and bands of matrices: rows and shape rules.
#include <algorithm>

#include "rewind/op/linalg.h"
#include "rewind/op/table.h"

namespace rw {
namespace {

void at_least(const ShapeContext& ctx, int i, int rank) {
  if (ctx.input(i).has_rank() && ctx.input(i).rank() < rank)
    ctx.fail("rank must be at least " + std::to_string(rank) + ": " + ctx.describe(i));
}

void diag_shape(ShapeContext& ctx) {
  const Shape& s = ctx.input(0);
  if (!s.has_rank()) return ctx.output(0, s);
  if (s.rank() < 1) ctx.fail("rank must be at least 1: " + ctx.describe(0));
  Shape out = s;
  for (const int64_t d : s) out.append(d);
  ctx.output(0, out);
}

void diag_part_shape(ShapeContext& ctx) {
  const Shape& s = ctx.input(0);
  if (!s.has_rank()) return ctx.output(0, s);
  if (s.rank() == 0 || s.rank() % 2 != 0) ctx.fail("rank must be even and positive: " + ctx.describe(0));
  Shape out;
  for (int i = 0; i < s.rank() / 2; ++i) {
    const int64_t a = s[i];
    const int64_t b = s[i + s.rank() / 2];
    if (a != b && a != Shape::kUnknown && b != Shape::kUnknown)
      ctx.fail("the second half of the sizes must repeat the first: " + ctx.describe(0));
    out.append(a == Shape::kUnknown ? b : a);
  }
  ctx.output(0, out);
}

void band_part_shape(ShapeContext& ctx) {
  at_least(ctx, 0, 2);
  const Shape& s = ctx.input(0);
  for (int i = 1; i < 3; ++i) {
    ctx.require_scalar(i);
    IntVector count;
    if (!s.has_rank() || !ctx.ints(i, &count)) continue;
    const int64_t limit = s[s.rank() - (i == 1 ? 2 : 1)];
    if (limit != Shape::kUnknown && count[0] > limit)
      ctx.fail(std::string(i == 1 ? "num_lower must not exceed the rows: got "
                                  : "num_upper must not exceed the columns: got ") +
               std::to_string(count[0]) + "; " + ctx.describe(0));
  }
  ctx.output(0, s);
}

// The first and last diagonal of input i; false while unknown.
bool diagonals(const ShapeContext& ctx, int i, int64_t* low, int64_t* high) {
  if (ctx.input(i).has_rank() && ctx.input(i).rank() > 1)
    ctx.fail("k must be a scalar or a vector: " + ctx.describe(i));
  IntVector k;
  if (!ctx.ints(i, &k)) return false;
  if (k.size() != 1 && k.size() != 2)
    ctx.fail("k must have one or two elements: got " + std::to_string(k.size()));
  *low = k[0];
  *high = k.back();
  if (*low > *high) ctx.fail("k must rise: got " + std::to_string(*low) + " to " + std::to_string(*high));
  return true;
}

void require_inside(const ShapeContext& ctx, int64_t low, int64_t high, int64_t rows, int64_t cols) {
  for (const int64_t d : {low, high})
    if (d != 0 && (d <= -rows || d >= cols))
      ctx.fail("k must lie inside the matrix: diagonal " + std::to_string(d) + " of " + std::to_string(rows) +
               " x " + std::to_string(cols));
}

int64_t longest_diagonal(int64_t low, int64_t high, int64_t rows, int64_t cols) {
  return std::min(rows + std::min<int64_t>(high, 0), cols - std::max<int64_t>(low, 0));
}

void matrix_diag_shape(ShapeContext& ctx) {
  at_least(ctx, 0, 1);
  Shape out = ctx.input(0);
  if (out.has_rank()) out.append(out.back());
  ctx.output(0, out);
}

void matrix_diag_part_shape(ShapeContext& ctx) {
  at_least(ctx, 0, 2);
  Shape out = ctx.input(0);
  if (out.has_rank()) {
    const int64_t rows = out[out.rank() - 2];
    const int64_t cols = out.back();
    out.erase(out.rank() - 1);
    out.set(out.rank() - 1,
            rows == Shape::kUnknown || cols == Shape::kUnknown ? Shape::kUnknown : std::min(rows, cols));
  }
  ctx.output(0, out);
}

void matrix_set_diag_shape(ShapeContext& ctx) {
  at_least(ctx, 0, 2);
  at_least(ctx, 1, 1);
  Shape want = ctx.input(0);
  if (want.has_rank()) {
    const int64_t rows = want[want.rank() - 2];
    const int64_t cols = want.back();
    want.erase(want.rank() - 1);
    want.set(want.rank() - 1,
             rows == Shape::kUnknown || cols == Shape::kUnknown ? Shape::kUnknown : std::min(rows, cols));
    if (!want.compatible_with(ctx.input(1)))
      ctx.fail("diagonal must have shape " + want.to_string() + ": " + ctx.describe(1) + ", " +
               ctx.describe(0));
  }
  ctx.output(0, ctx.input(0));
}

// (..., [diagonals,] length) -> (..., rows, cols)
void matrix_diag_v3_shape(ShapeContext& ctx) {
  at_least(ctx, 0, 1);
  const Shape& s = ctx.input(0);
  int64_t low, high;
  const bool known = diagonals(ctx, 1, &low, &high);
  for (const int i : {2, 3, 4}) ctx.require_scalar(i);
  if (!known || !s.has_rank()) return ctx.output(0, Shape::unknown_rank());
  const bool band = low != high;
  if (band && s.rank() < 2) ctx.fail("several diagonals need rank 2 at least: " + ctx.describe(0));
  if (band && s[s.rank() - 2] != Shape::kUnknown && s[s.rank() - 2] != high - low + 1)
    ctx.fail("k says " + std::to_string(high - low + 1) + " diagonals: " + ctx.describe(0));
  Shape out(s.dims().first(size_t(s.rank() - (band ? 2 : 1))));
  IntVector rows_value, cols_value;
  if (s.back() == Shape::kUnknown || !ctx.ints(2, &rows_value) || !ctx.ints(3, &cols_value)) {
    out.append(Shape::kUnknown);
    out.append(Shape::kUnknown);
    return ctx.output(0, out);
  }
  // What the longest diagonal needs, where a size is not given.
  const int64_t least_rows = s.back() - std::min<int64_t>(high, 0);
  const int64_t least_cols = s.back() + std::max<int64_t>(low, 0);
  int64_t rows = rows_value[0];
  int64_t cols = cols_value[0];
  if (rows == -1 && cols == -1) rows = cols = std::max(least_rows, least_cols);
  else if (rows == -1) rows = least_rows;
  else if (cols == -1) cols = least_cols;
  if (rows < least_rows || cols < least_cols || (rows != least_rows && cols != least_cols))
    ctx.fail("sizes must fit the diagonal: a diagonal of " + std::to_string(s.back()) + " needs " +
             std::to_string(least_rows) + " rows or " + std::to_string(least_cols) +
             " columns at least, and exactly one of them; got " + std::to_string(rows) + " x " +
             std::to_string(cols));
  require_inside(ctx, low, high, rows, cols);
  out.append(rows);
  out.append(cols);
  ctx.output(0, out);
}

// The shape of diagonals [low, high] of a matrix of this shape.
Shape part_shape(const ShapeContext& ctx, const Shape& s, int64_t low, int64_t high) {
  const int64_t rows = s[s.rank() - 2];
  const int64_t cols = s.back();
  Shape out(s.dims().first(size_t(s.rank() - 2)));
  if (low != high) out.append(high - low + 1);
  if (rows == Shape::kUnknown || cols == Shape::kUnknown) {
    out.append(Shape::kUnknown);
  } else {
    require_inside(ctx, low, high, rows, cols);
    out.append(longest_diagonal(low, high, rows, cols));
  }
  return out;
}

void matrix_diag_part_v3_shape(ShapeContext& ctx) {
  at_least(ctx, 0, 2);
  ctx.require_scalar(2);
  int64_t low, high;
  const bool known = diagonals(ctx, 1, &low, &high);
  const Shape& s = ctx.input(0);
  ctx.output(0, known && s.has_rank() ? part_shape(ctx, s, low, high) : Shape::unknown_rank());
}

void matrix_set_diag_v3_shape(ShapeContext& ctx) {
  at_least(ctx, 0, 2);
  at_least(ctx, 1, 1);
  int64_t low, high;
  if (diagonals(ctx, 2, &low, &high) && ctx.input(0).has_rank()) {
    const Shape want = part_shape(ctx, ctx.input(0), low, high);
    if (!want.compatible_with(ctx.input(1)))
      ctx.fail("diagonal must have shape " + want.to_string() + ": " + ctx.describe(1) + ", " +
               ctx.describe(0));
  }
  ctx.output(0, ctx.input(0));
}

constexpr const char* kAlign =
    "; align: {'LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'} = 'RIGHT_LEFT'";

}  // namespace

void register_linalg_diag_ops(OpTable& t) {
  const std::string align = kAlign;
  t.add(
       "Diag(diagonal: T) -> (output: T); T: {bfloat16, half, float, double, int32, int64, complex64, "
       "complex128}")
      .shape(diag_shape)
      .tag("tensor_diag");
  t.add(
       "DiagPart(input: T) -> (diagonal: T); T: {bfloat16, half, float, double, int32, int64, complex64, "
       "complex128}")
      .shape(diag_part_shape)
      .tag("tensor_diag_part");
  t.add(
       "MatrixBandPart(input: T, num_lower: Tindex, num_upper: Tindex) -> (band: T); T: type; Tindex: "
       "{int32, int64} = int64")
      .shape(band_part_shape)
      .host({"num_lower", "num_upper"})
      .tag("band_part");
  t.add("MatrixDiag(diagonal: T) -> (output: T); T: type").shape(matrix_diag_shape).tag("diag");
  t.add("MatrixDiagPart(input: T) -> (diagonal: T); T: type").shape(matrix_diag_part_shape).tag("diag_part");
  t.add("MatrixSetDiag(input: T, diagonal: T) -> (output: T); T: type")
      .shape(matrix_set_diag_shape)
      .tag("set_diag");
  for (const bool v3 : {false, true}) {
    const std::string version = v3 ? "V3" : "V2";
    const std::string extra = v3 ? align : "";
    t.add("MatrixDiag" + version +
          "(diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T) -> (output: T); "
          "T: type" +
          extra)
        .shape(matrix_diag_v3_shape)
        .host({"k", "num_rows", "num_cols"})
        .tag("diag");
    t.add("MatrixDiagPart" + version + "(input: T, k: int32, padding_value: T) -> (diagonal: T); T: type" +
          extra)
        .shape(matrix_diag_part_v3_shape)
        .host({"k"})
        .tag("diag_part");
    t.add("MatrixSetDiag" + version + "(input: T, diagonal: T, k: int32) -> (output: T); T: type" + extra)
        .shape(matrix_set_diag_v3_shape)
        .host({"k"})
        .tag("set_diag");
  }
}

}  // namespace rw
