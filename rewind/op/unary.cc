// Unary elementwise ops, and the ops that serve their gradients: rows and shape rules.
#include "rewind/op/elementwise_rows.h"
#include "rewind/op/table.h"

namespace rw {
namespace {

// Both inputs have one shape: these ops do not broadcast.
void same_shapes(ShapeContext& ctx) {
  if (!ctx.input(0).compatible_with(ctx.input(1)))
    ctx.fail("inputs must have one shape: " + ctx.describe(0) + ", " + ctx.describe(1));
  ctx.output(0, ctx.input(0).fully_known() ? ctx.input(0) : ctx.input(1));
}

void each_input_shape(ShapeContext& ctx) {
  for (int i = 0; i < ctx.num_outputs(); ++i) ctx.output(i, ctx.input(i));
}

// To a smaller type an axis is added, to a larger one the last axis is taken away.
void bitcast_shape(ShapeContext& ctx) {
  const DType to = ctx.attr<DType>("type");
  const auto from_size = int64_t(size_of(ctx.dtype(0)));
  const auto to_size = int64_t(size_of(to));
  Shape shape = ctx.input(0);
  if (!shape.has_rank() || from_size == to_size) return ctx.output(0, std::move(shape));
  if (from_size > to_size) {
    shape.append(from_size / to_size);
    return ctx.output(0, std::move(shape));
  }
  const int64_t ratio = to_size / from_size;
  if (shape.rank() == 0 || (shape.back() >= 0 && shape.back() != ratio)) {
    ctx.fail("the last axis must have size " + std::to_string(ratio) + " to become one " +
             std::string(name_of(to)) + ": " + ctx.describe(0));
  }
  shape.erase(shape.rank() - 1);
  ctx.output(0, std::move(shape));
}

}  // namespace

void register_unary_ops(OpTable& t) {
  add_elementwise_rows(t, {{"Abs", "abs"}},
                       "(x: T) -> (y: T); T: {bfloat16, half, float, double, int8, int16, int32, int64}",
                       same_shape_as_input);
  add_elementwise_rows(
      t,
      {{"Neg", "negative"},
       {"Sign", "sign"},
       {"Reciprocal", "reciprocal"},
       {"Inv", "reciprocal"},
       {"Round", "round"}},
      "(x: T) -> (y: T); T: {bfloat16, half, float, double, int8, int16, int32, int64, complex64, "
      "complex128}",
      same_shape_as_input);
  add_elementwise_rows(
      t, {{"Square", "square"}},
      "(x: T) -> (y: T); T: {bfloat16, half, float, double, int8, int16, int32, int64, uint8, uint16, "
      "uint32, "
      "uint64, complex64, complex128}",
      same_shape_as_input);
  add_elementwise_rows(t,
                       {{"Sqrt", "sqrt"},
                        {"Rsqrt", "rsqrt"},
                        {"Exp", "exp"},
                        {"Expm1", "expm1"},
                        {"Log", "log"},
                        {"Log1p", "log1p"},
                        {"Sin", "sin"},
                        {"Cos", "cos"},
                        {"Tan", "tan"},
                        {"Asin", "asin"},
                        {"Acos", "acos"},
                        {"Atan", "atan"},
                        {"Sinh", "sinh"},
                        {"Cosh", "cosh"},
                        {"Tanh", "tanh"},
                        {"Asinh", "asinh"},
                        {"Acosh", "acosh"},
                        {"Atanh", "atanh"},
                        {"Sigmoid", "sigmoid"}},
                       "(x: T) -> (y: T); T: {bfloat16, half, float, double, complex64, complex128}",
                       same_shape_as_input);
  add_elementwise_rows(t,
                       {{"Erf", "erf"},
                        {"Erfc", "erfc"},
                        {"Erfinv", "erfinv"},
                        {"Ndtri", "ndtri"},
                        {"Lgamma", "lgamma"},
                        {"Digamma", "digamma"},
                        {"BesselI0e", "bessel_i0e"},
                        {"BesselI1e", "bessel_i1e"},
                        {"BesselI0", "bessel_i0"},
                        {"BesselI1", "bessel_i1"},
                        {"BesselK0", "bessel_k0"},
                        {"BesselK0e", "bessel_k0e"},
                        {"BesselK1", "bessel_k1"},
                        {"BesselK1e", "bessel_k1e"},
                        {"BesselJ0", "bessel_j0"},
                        {"BesselJ1", "bessel_j1"},
                        {"BesselY0", "bessel_y0"},
                        {"BesselY1", "bessel_y1"},
                        {"Dawsn", "dawsn"},
                        {"Expint", "expint"},
                        {"FresnelSin", "fresnel_sin"},
                        {"FresnelCos", "fresnel_cos"},
                        {"Spence", "spence"},
                        {"Floor", "floor"},
                        {"Ceil", "ceil"},
                        {"Rint", "rint"}},
                       "(x: T) -> (y: T); T: {bfloat16, half, float, double}", same_shape_as_input);
  add_elementwise_rows(t, {{"IsNan", "is_nan"}, {"IsInf", "is_inf"}, {"IsFinite", "is_finite"}},
                       "(x: T) -> (y: bool); T: {bfloat16, half, float, double}", same_shape_as_input);
  add_elementwise_rows(t, {{"LogicalNot", "logical_not"}}, "(x: bool) -> (y: bool)", same_shape_as_input);
  add_elementwise_rows(t, {{"Invert", "invert"}},
                       "(x: T) -> (y: T); T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}",
                       same_shape_as_input);
  add_elementwise_rows(t, {{"PopulationCount", "population_count"}},
                       "(x: T) -> (y: uint8); T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}",
                       same_shape_as_input);
  add_elementwise_rows(
      t, {{"Relu", "relu"}},
      "(features: T) -> (activations: T); T: {float, double, int32, uint8, int16, int8, int64, bfloat16, "
      "uint16, half, uint32, uint64, qint8}",
      same_shape_as_input);
  add_elementwise_rows(
      t, {{"Relu6", "relu6"}},
      "(features: T) -> (activations: T); T: {float, double, int32, uint8, int16, int8, int64, bfloat16, "
      "uint16, half, uint32, uint64}",
      same_shape_as_input);
  add_elementwise_rows(
      t, {{"Softplus", "softplus"}, {"Softsign", "softsign"}, {"Elu", "elu"}, {"Selu", "selu"}},
      "(features: T) -> (activations: T); T: {half, bfloat16, float, double}", same_shape_as_input);
  add_elementwise_rows(
      t, {{"LeakyRelu", "leaky_relu"}},
      "(features: T) -> (activations: T); alpha: float = 0.200000003; T: {half, bfloat16, float, double} = "
      "float",
      same_shape_as_input);
  add_elementwise_rows(t, {{"Cast", "cast"}},
                       "(x: SrcT) -> (y: DstT); SrcT: type; DstT: type; Truncate: bool = false",
                       same_shape_as_input);
  add_elementwise_rows(
      t, {{"ReluGrad", "relu_grad"}, {"Relu6Grad", "relu6_grad"}},
      "(gradients: T, features: T) -> (backprops: T); T: {float, double, int32, uint8, int16, int8, int64, "
      "bfloat16, uint16, half, uint32, uint64}",
      same_shapes);
  add_elementwise_rows(
      t, {{"LeakyReluGrad", "leaky_relu_grad"}},
      "(gradients: T, features: T) -> (backprops: T); alpha: float = 0.200000003; T: {half, bfloat16, float, "
      "double} = float",
      same_shapes);
  add_elementwise_rows(t, {{"EluGrad", "elu_grad"}, {"SeluGrad", "selu_grad"}},
                       "(gradients: T, outputs: T) -> (backprops: T); T: {half, bfloat16, float, double}",
                       same_shapes);
  add_elementwise_rows(t, {{"SoftplusGrad", "softplus_grad"}, {"SoftsignGrad", "softsign_grad"}},
                       "(gradients: T, features: T) -> (backprops: T); T: {half, bfloat16, float, double}",
                       same_shapes);
  add_elementwise_rows(t,
                       {{"SigmoidGrad", "sigmoid_grad"},
                        {"TanhGrad", "tanh_grad"},
                        {"SqrtGrad", "sqrt_grad"},
                        {"RsqrtGrad", "rsqrt_grad"},
                        {"ReciprocalGrad", "reciprocal_grad"},
                        {"InvGrad", "inv_grad"}},
                       "(y: T, dy: T) -> (z: T); T: {bfloat16, half, float, double, complex64, complex128}",
                       same_shapes);
  t.add("Identity(input: T) -> (output: T); T: type")
      .shape(same_shape_as_input)
      .elementwise()
      .tag("identity")
      .view();
  t.add("StopGradient(input: T) -> (output: T); T: type")
      .shape(same_shape_as_input)
      .elementwise()
      .tag("stop_gradient")
      .view();
  t.add("PreventGradient(input: T) -> (output: T); T: type; message: string = ''")
      .shape(same_shape_as_input)
      .elementwise()
      .tag("prevent_gradient")
      .view();
  t.add("Snapshot(input: T) -> (output: T); T: type")
      .shape(same_shape_as_input)
      .elementwise()
      .tag("snapshot")
      .view();
  t.add("PlaceholderWithDefault(input: dtype) -> (output: dtype); dtype: type; shape: shape")
      .shape(same_shape_as_input)
      .elementwise()
      .tag("placeholder_with_default")
      .view();
  t.add("DeepCopy(x: T) -> (y: T); T: type; stateful")
      .shape(same_shape_as_input)
      .elementwise()
      .tag("deep_copy");
  t.add("IdentityN(input: T) -> (output: T); T: list(type) >= 1").shape(each_input_shape).tag("identity_n");
  t.add(
       "Bitcast(input: T) -> (output: type); T: {bfloat16, half, float, double, int64, int32, uint8, uint16, "
       "uint32, "
       "uint64, int8, int16, complex64, complex128, qint8, quint8, qint16, quint16, qint32}; type: "
       "{bfloat16, half, "
       "float, double, int64, int32, uint8, uint16, uint32, uint64, int8, int16, complex64, complex128, "
       "qint8, quint8, "
       "qint16, quint16, qint32}")
      .shape(bitcast_shape)
      .tag("bitcast")
      .view();
}

}  // namespace rw
