// Elementwise ops of two and more inputs: rows and shape rules.
#include "rewind/op/elementwise_rows.h"
#include "rewind/op/table.h"

namespace rw {
namespace {

// Shapes that do not fit are an error, or, if the call says so, one answer.
void equality_shape(ShapeContext& ctx) {
  Shape shape;
  if (!ctx.attr<bool>("incompatible_shape_error") && !broadcast_shapes(ctx.input(0), ctx.input(1), &shape))
    return ctx.output(0, Shape());
  broadcast_inputs(ctx);
}

void approximate_equal_shape(ShapeContext& ctx) {
  if (!ctx.input(0).compatible_with(ctx.input(1)))
    ctx.fail("inputs must have one shape: " + ctx.describe(0) + ", " + ctx.describe(1));
  ctx.output(0, ctx.input(0).fully_known() ? ctx.input(0) : ctx.input(1));
}

void require_same(ShapeContext& ctx, int i, int j) {
  if (!ctx.input(i).compatible_with(ctx.input(j)))
    ctx.fail("shapes must be equal: " + ctx.describe(i) + ", " + ctx.describe(j));
}

// The condition has the shape of the others, or is a scalar, or a vector that chooses along their first axis.
void select_shape(ShapeContext& ctx) {
  require_same(ctx, 1, 2);
  const Shape& c = ctx.input(0);
  const Shape& x = ctx.input(1).fully_known() ? ctx.input(1) : ctx.input(2);
  if (c.has_rank() && x.has_rank() && c.rank() != 0 && !c.compatible_with(x)) {
    const bool rows = c.rank() == 1 && x.rank() > 0 && (c[0] == x[0] || c[0] < 0 || x[0] < 0);
    if (!rows) {
      ctx.fail("the condition must be a scalar, a vector along the first axis, or of the others' shape: " +
               ctx.describe(0) + ", " + ctx.describe(1));
    }
  }
  ctx.output(0, x);
}

// A bound is one element, or one per element of t.
void clip_shape(ShapeContext& ctx) {
  for (int i = 1; i < 3; ++i) {
    const int64_t count = ctx.input(i).has_rank() ? ctx.input(i).num_elements() : -1;
    if (count >= 0 && count != 1) require_same(ctx, 0, i);
  }
  ctx.output(0, ctx.input(0));
}

// Scalars beside tensors of one shape.
void betainc_shape(ShapeContext& ctx) {
  int first = -1;
  for (int i = 0; i < 3; ++i) {
    if (!ctx.input(i).has_rank()) return ctx.output(0, Shape::unknown_rank());
    if (ctx.input(i).rank() == 0) continue;
    if (first >= 0) require_same(ctx, first, i);
    if (first < 0) first = i;
  }
  ctx.output(0, first < 0 ? Shape() : ctx.input(first));
}

void all_same_shape(ShapeContext& ctx) {
  int known = 0;
  for (int i = 1; i < ctx.num_inputs(); ++i) {
    require_same(ctx, 0, i);
    if (ctx.input(i).fully_known()) known = i;
  }
  ctx.output(0, ctx.input(known));
}

void accumulate_shape(ShapeContext& ctx) {
  all_same_shape(ctx);
  const Shape shape = ctx.attr<Shape>("shape");
  if (!shape.compatible_with(ctx.input(0)))
    ctx.fail("inputs must have shape " + shape.to_string() + ": " + ctx.describe(0));
}

}  // namespace

void register_binary_ops(OpTable& t) {
  add_elementwise_rows(t, {{"RandomGammaGrad", "random_gamma_grad"}},
                       "(alpha: T, sample: T) -> (output: T); T: {float, double}", broadcast_inputs);
  add_elementwise_rows(
      t, {{"AddV2", "add"}},
      "(x: T, y: T) -> (z: T); T: {bfloat16, half, float, double, uint8, uint16, uint32, uint64, int8, "
      "int16, "
      "int32, int64, complex64, complex128}; commutative; aggregate",
      broadcast_inputs);
  add_elementwise_rows(
      t, {{"Add", "add"}},
      "(x: T, y: T) -> (z: T); T: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, "
      "complex64, "
      "complex128, string}",
      broadcast_inputs);
  add_elementwise_rows(
      t, {{"Sub", "subtract"}},
      "(x: T, y: T) -> (z: T); T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, int64, "
      "complex64, complex128, uint32, uint64}",
      broadcast_inputs);
  add_elementwise_rows(
      t, {{"Mul", "multiply"}},
      "(x: T, y: T) -> (z: T); T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, uint32, "
      "uint64, int64, complex64, complex128}; commutative",
      broadcast_inputs);
  add_elementwise_rows(
      t, {{"Div", "divide"}, {"RealDiv", "divide"}, {"FloorDiv", "floordiv"}, {"TruncateDiv", "truncatediv"}},
      "(x: T, y: T) -> (z: T); T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, uint32, "
      "uint64, int64, complex64, complex128}",
      broadcast_inputs);
  add_elementwise_rows(
      t, {{"FloorMod", "floormod"}},
      "(x: T, y: T) -> (z: T); T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64, bfloat16, half, "
      "float, double}",
      broadcast_inputs);
  add_elementwise_rows(t, {{"Mod", "mod"}},
                       "(x: T, y: T) -> (z: T); T: {int32, int64, half, half, bfloat16, float, double}",
                       broadcast_inputs);
  add_elementwise_rows(t, {{"TruncateMod", "truncatemod"}},
                       "(x: T, y: T) -> (z: T); T: {int32, int64, bfloat16, half, float, double}",
                       broadcast_inputs);
  add_elementwise_rows(
      t, {{"Pow", "pow"}},
      "(x: T, y: T) -> (z: T); T: {bfloat16, float, half, double, int8, int16, int32, int64, complex64, "
      "complex128}",
      broadcast_inputs);
  add_elementwise_rows(
      t, {{"Maximum", "maximum"}, {"Minimum", "minimum"}},
      "(x: T, y: T) -> (z: T); T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, uint32, "
      "int64, uint64}",
      broadcast_inputs);
  add_elementwise_rows(
      t, {{"SquaredDifference", "squared_difference"}},
      "(x: T, y: T) -> (z: T); T: {bfloat16, half, float, double, int32, int64, complex64, complex128}; "
      "commutative",
      broadcast_inputs);
  add_elementwise_rows(t, {{"Atan2", "atan2"}}, "(y: T, x: T) -> (z: T); T: {bfloat16, half, float, double}",
                       broadcast_inputs);
  add_elementwise_rows(t, {{"DivNoNan", "divide_no_nan"}},
                       "(x: T, y: T) -> (z: T); T: {half, float, bfloat16, double, complex64, complex128}",
                       broadcast_inputs);
  add_elementwise_rows(t, {{"MulNoNan", "multiply_no_nan"}},
                       "(x: T, y: T) -> (z: T); T: {bfloat16, half, float, double, complex64, complex128}",
                       broadcast_inputs);
  add_elementwise_rows(t, {{"Xlogy", "xlogy"}, {"Xlog1py", "xlog1py"}, {"Xdivy", "xdivy"}},
                       "(x: T, y: T) -> (z: T); T: {half, bfloat16, float, double, complex64, complex128}",
                       broadcast_inputs);
  add_elementwise_rows(t, {{"Igamma", "igamma"}, {"Igammac", "igammac"}},
                       "(a: T, x: T) -> (z: T); T: {bfloat16, half, float, double}", broadcast_inputs);
  add_elementwise_rows(t, {{"Zeta", "zeta"}}, "(x: T, q: T) -> (z: T); T: {float, double}", broadcast_inputs);
  add_elementwise_rows(t, {{"Polygamma", "polygamma"}, {"IgammaGradA", "igamma_grad_a"}},
                       "(a: T, x: T) -> (z: T); T: {float, double}", broadcast_inputs);
  add_elementwise_rows(t, {{"NextAfter", "nextafter"}},
                       "(x1: T, x2: T) -> (output: T); T: {double, float} = float", broadcast_inputs);
  add_elementwise_rows(
      t,
      {{"Less", "less"},
       {"LessEqual", "less_equal"},
       {"Greater", "greater"},
       {"GreaterEqual", "greater_equal"}},
      "(x: T, y: T) -> (z: bool); T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, "
      "half, "
      "uint32, uint64}",
      broadcast_inputs);
  add_elementwise_rows(t, {{"LogicalAnd", "logical_and"}, {"LogicalOr", "logical_or"}},
                       "(x: bool, y: bool) -> (z: bool); commutative", broadcast_inputs);
  add_elementwise_rows(
      t, {{"BitwiseAnd", "bitwise_and"}, {"BitwiseOr", "bitwise_or"}, {"BitwiseXor", "bitwise_xor"}},
      "(x: T, y: T) -> (z: T); T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}; commutative",
      broadcast_inputs);
  add_elementwise_rows(
      t, {{"LeftShift", "left_shift"}, {"RightShift", "right_shift"}},
      "(x: T, y: T) -> (z: T); T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}",
      broadcast_inputs);
  add_elementwise_rows(t, {{"SelectV2", "where"}}, "(condition: bool, t: T, e: T) -> (output: T); T: type",
                       broadcast_inputs);
  add_elementwise_rows(
      t, {{"Equal", "equal"}, {"NotEqual", "not_equal"}},
      "(x: T, y: T) -> (z: bool); T: type; incompatible_shape_error: bool = true; commutative",
      equality_shape);
  add_elementwise_rows(
      t, {{"ApproximateEqual", "approximate_equal"}},
      "(x: T, y: T) -> (z: bool); T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, "
      "quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}; tolerance: "
      "float "
      "= 9.99999975e-06; commutative",
      approximate_equal_shape);
  t.add("Select(condition: bool, t: T, e: T) -> (output: T); T: type").shape(select_shape).tag("where");
  add_elementwise_rows(
      t, {{"ClipByValue", "clip_by_value"}},
      "(t: T, clip_value_min: T, clip_value_max: T) -> (output: T); T: {float, double, int32, uint8, int16, "
      "int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, half, "
      "uint32, uint64}",
      clip_shape);
  add_elementwise_rows(t, {{"Betainc", "betainc"}}, "(a: T, b: T, x: T) -> (z: T); T: {float, double}",
                       betainc_shape);
  t.add(
       "AddN(inputs: N * T) -> (sum: T); N: int >= 1; T: {float, double, int32, uint8, int16, int8, "
       "complex64, int64, "
       "qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64, "
       "variant}; "
       "commutative; aggregate")
      .shape(all_same_shape)
      .elementwise()
      .shares()
      .tag("add_n");
  t.add(
       "AccumulateNV2(inputs: N * T) -> (sum: T); N: int >= 1; T: {float, double, int32, uint8, int16, int8, "
       "complex64, "
       "int64, qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}; "
       "shape: "
       "shape; commutative; aggregate")
      .shape(accumulate_shape)
      .elementwise()
      .tag("accumulate_n");
}

}  // namespace rw
