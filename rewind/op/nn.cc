// Softmax, cross entropy, biases, normalisation: rows and shape rules.
#include "rewind/op/attention.h"
#include "rewind/op/normalization.h"
#include "rewind/op/table.h"

namespace rw {
namespace {

void softmax_shape(ShapeContext& ctx) {
  if (ctx.input(0).has_rank() && ctx.input(0).rank() < 1)
    ctx.fail("logits need at least one axis, for the classes: " + ctx.describe(0));
  same_shape_as_input(ctx);
}

void cross_entropy_shape(ShapeContext& ctx) {
  Shape both;
  for (int i = 0; i < 2; ++i) ctx.require_rank(i, 2);
  if (!broadcast_shapes(ctx.input(0), ctx.input(1), &both))
    ctx.fail("logits and labels must have one shape (batch, classes): " + ctx.describe(0) + ", " +
             ctx.describe(1));
  if (!both.has_rank()) both = Shape::unknown_of_rank(2);
  ctx.output(0, Shape{both[0]});
  ctx.output(1, both);
}

void sparse_cross_entropy_shape(ShapeContext& ctx) {
  ctx.require_rank(0, 2);
  ctx.require_rank(1, 1);
  const Shape& features = ctx.input(0);
  const Shape& labels = ctx.input(1);
  if (features.has_rank() && labels.has_rank() && features[0] >= 0 && labels[0] >= 0 &&
      features[0] != labels[0])
    ctx.fail("logits and labels must have the same batch size: " + ctx.describe(0) + ", " + ctx.describe(1));
  if (features.has_rank() && features[1] == 0)
    ctx.fail("there must be at least one class: " + ctx.describe(0));
  Shape backprop = features.has_rank() ? features : Shape::unknown_of_rank(2);
  if (labels.has_rank() && backprop[0] < 0) backprop.set(0, labels[0]);
  ctx.output(0, Shape{backprop[0]});
  ctx.output(1, backprop);
}

int bias_axis(const ShapeContext& ctx, int rank) {
  // With channels first they are axis 1, whatever the number of spatial axes.
  return ctx.attr<std::string>("data_format") == "NCHW" ? 1 : rank - 1;
}

void bias_add_shape(ShapeContext& ctx) {
  ctx.require_rank(1, 1);
  const Shape& value = ctx.input(0);
  const Shape& bias = ctx.input(1);
  if (!value.has_rank()) return ctx.output(0, value);
  if (value.rank() < 2) ctx.fail("value needs at least two axes: " + ctx.describe(0));
  const int axis = ctx.op().name == "BiasAddV1" ? value.rank() - 1 : bias_axis(ctx, value.rank());
  Shape out = value;
  if (bias.has_rank() && bias[0] >= 0) {
    if (value[axis] >= 0 && value[axis] != bias[0])
      ctx.fail("bias must have one element per channel: " + ctx.describe(0) + " has " +
               std::to_string(value[axis]) + " channels, " + ctx.describe(1));
    out.set(axis, bias[0]);
  }
  ctx.output(0, out);
}

void bias_add_grad_shape(ShapeContext& ctx) {
  const Shape& grad = ctx.input(0);
  if (!grad.has_rank()) return ctx.output(0, Shape::unknown_of_rank(1));
  if (grad.rank() < 2) ctx.fail("out_backprop needs at least two axes: " + ctx.describe(0));
  ctx.output(0, Shape{grad[bias_axis(ctx, grad.rank())]});
}

}  // namespace

void register_nn_ops(OpTable& t) {
  t.add("Softmax(logits: T) -> (softmax: T); T: {half, bfloat16, float, double}")
      .shape(softmax_shape)
      .tag("softmax");
  t.add("LogSoftmax(logits: T) -> (logsoftmax: T); T: {half, bfloat16, float, double}")
      .shape(softmax_shape)
      .tag("log_softmax");
  t.add(
       "SoftmaxCrossEntropyWithLogits(features: T, labels: T) -> (loss: T, backprop: T); "
       "T: {half, bfloat16, float, double}")
      .shape(cross_entropy_shape)
      .tag("softmax_cross_entropy_with_logits");
  t.add(
       "SparseSoftmaxCrossEntropyWithLogits(features: T, labels: Tlabels) -> (loss: T, backprop: T); "
       "T: {half, bfloat16, float, double}; Tlabels: {int32, int64} = int64")
      .shape(sparse_cross_entropy_shape)
      .tag("sparse_softmax_cross_entropy_with_logits");
  t.add("BiasAdd(value: T, bias: T) -> (output: T); T: {number}; data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .shape(bias_add_shape)
      .tag("bias_add");
  t.add("BiasAddV1(value: T, bias: T) -> (output: T); T: {number}").shape(bias_add_shape).tag("bias_add");
  t.add("BiasAddGrad(out_backprop: T) -> (output: T); T: {number}; data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .shape(bias_add_grad_shape);
  t.add("L2Loss(t: T) -> (output: T); T: {half, bfloat16, float, double}")
      .shape(scalar_output)
      .tag("l2_loss");
  register_normalization_ops(t);
  register_attention_ops(t);
}

}  // namespace rw
