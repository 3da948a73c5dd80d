// Matrix products: rows and shape rules.
#include "rewind/op/einsum.h"
#include "rewind/op/table.h"

namespace rw {
namespace {

// The sizes of one product from the last two axes of its factors. Throws when the inner sizes differ.
void matrix_sizes(const ShapeContext& ctx, bool turn_a, bool turn_b, const char* attr_a, const char* attr_b,
                  int64_t* rows, int64_t* cols) {
  const Shape& a = ctx.input(0);
  const Shape& b = ctx.input(1);
  auto at = [](const Shape& s, int from_end) {
    return s.has_rank() ? s[s.rank() - from_end] : Shape::kUnknown;
  };
  *rows = at(a, turn_a ? 1 : 2);
  *cols = at(b, turn_b ? 2 : 1);
  const int64_t inner_a = at(a, turn_a ? 2 : 1);
  const int64_t inner_b = at(b, turn_b ? 1 : 2);
  if (inner_a == inner_b || inner_a == Shape::kUnknown || inner_b == Shape::kUnknown) return;
  std::string hint;
  if (inner_a == at(b, turn_b ? 2 : 1)) hint = std::string("; did you mean ") + attr_b + "?";
  else if (inner_b == at(a, turn_a ? 1 : 2)) hint = std::string("; did you mean ") + attr_a + "?";
  ctx.fail("inner sizes must match: " + ctx.describe(0) + (turn_a ? " transposed, " : ", ") +
           ctx.describe(1) + (turn_b ? " transposed" : "") + hint);
}

void matmul_shape(ShapeContext& ctx) {
  ctx.require_rank(0, 2);
  ctx.require_rank(1, 2);
  int64_t rows;
  int64_t cols;
  matrix_sizes(ctx, ctx.attr<bool>("transpose_a"), ctx.attr<bool>("transpose_b"), "transpose_a",
               "transpose_b", &rows, &cols);
  ctx.output(0, {rows, cols});
}

void batch_matmul_shape(ShapeContext& ctx, bool broadcast) {
  for (int i = 0; i < 2; ++i)
    if (ctx.input(i).has_rank() && ctx.input(i).rank() < 2)
      ctx.fail("rank must be at least 2: " + ctx.describe(i));
  int64_t rows;
  int64_t cols;
  matrix_sizes(ctx, ctx.attr<bool>("adj_x"), ctx.attr<bool>("adj_y"), "adj_x", "adj_y", &rows, &cols);
  const Shape& x = ctx.input(0);
  const Shape& y = ctx.input(1);
  if (!x.has_rank() || !y.has_rank()) return ctx.output(0, Shape::unknown_rank());
  const Shape x_batch(x.dims().first(size_t(x.rank() - 2)));
  const Shape y_batch(y.dims().first(size_t(y.rank() - 2)));
  Shape out;
  if (!broadcast_shapes(x_batch, y_batch, &out) || (!broadcast && !x_batch.compatible_with(y_batch)))
    ctx.fail("leading sizes must " + std::string(broadcast ? "broadcast" : "be equal") + ": " +
             ctx.describe(0) + ", " + ctx.describe(1));
  out.append(rows);
  out.append(cols);
  ctx.output(0, out);
}

void einsum_output(ShapeContext& ctx) {
  const EinsumEquation equation = EinsumEquation::parse(ctx.attr<std::string>("equation"));
  if (ctx.num_inputs() > 2)
    ctx.fail("a raw Einsum takes one or two inputs: got " + std::to_string(ctx.num_inputs()) +
             "; rw::einsum takes more");
  std::vector<const Shape*> shapes;
  for (int i = 0; i < ctx.num_inputs(); ++i) shapes.push_back(&ctx.input(i));
  ctx.output(0, einsum_shape(equation, shapes));
}

}  // namespace

void register_matmul_ops(OpTable& t) {
  t.add(
       "MatMul(a: T, b: T) -> (product: T); transpose_a: bool = false; transpose_b: bool = false; T: "
       "{bfloat16, half, "
       "float, double, int32, int64, uint8, uint16, uint32, uint64, complex64, complex128}; grad_a: bool = "
       "false; "
       "grad_b: bool = false")
      .shape(matmul_shape)
      .tag("matmul");
  t.add(
       "BatchMatMul(x: T, y: T) -> (output: T); T: {bfloat16, half, float, double, int32, int64, complex64, "
       "complex128}; "
       "adj_x: bool = false; adj_y: bool = false; grad_x: bool = false; grad_y: bool = false")
      .shape([](ShapeContext& ctx) { batch_matmul_shape(ctx, false); })
      .tag("matmul");
  t.add(
       "BatchMatMulV2(x: T, y: T) -> (output: T); T: {bfloat16, half, float, double, int16, int32, int64, "
       "uint8, uint16, "
       "uint32, uint64, complex64, complex128}; adj_x: bool = false; adj_y: bool = false; grad_x: bool = "
       "false; "
       "grad_y: bool = false")
      .shape([](ShapeContext& ctx) { batch_matmul_shape(ctx, true); })
      .tag("matmul");
  t.add(
       "BatchMatMulV3(x: Ta, y: Tb) -> (output: Tout); Ta: {bfloat16, half, float, double, uint8, int8, "
       "int16, int32, "
       "int64, complex64, complex128}; Tb: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, "
       "complex64, "
       "complex128}; Tout: {bfloat16, half, float, double, int16, int32, int64, complex64, complex128}; "
       "adj_x: bool = "
       "false; adj_y: bool = false; grad_x: bool = false; grad_y: bool = false")
      .shape([](ShapeContext& ctx) { batch_matmul_shape(ctx, true); })
      .tag("matmul");
  t.add("Einsum(inputs: N * T) -> (output: T); equation: string; N: int >= 1; T: type")
      .shape(einsum_output)
      .tag("einsum");
}

}  // namespace rw
