// Batch and local response normalisation: rows and shape rules.
#include "rewind/op/normalization.h"

#include "rewind/op/table.h"

namespace rw {
namespace {

int channel_axis(const ShapeContext& ctx, const Shape& x) {
  return ctx.attr<std::string>("data_format")[1] == 'C' ? 1 : x.rank() - 1;
}

// x has the rank of data_format: 4 or 5.
void check_image(ShapeContext& ctx, int i) {
  ctx.require_rank(i, int(ctx.attr<std::string>("data_format").size()));
}

void batch_norm_shape(ShapeContext& ctx) {
  check_image(ctx, 0);
  const Shape& x = ctx.input(0);
  int64_t channels = x.has_rank() ? x[channel_axis(ctx, x)] : -1;
  const bool needs_statistics =
      !ctx.attr<bool>("is_training") || ctx.attr<float>("exponential_avg_factor") != 1.0f;
  for (int i = 1; i < 5; ++i) {
    ctx.require_rank(i, 1);
    const Shape& s = ctx.input(i);
    if (!s.has_rank() || s[0] < 0 || channels < 0) continue;
    const bool may_be_empty = i >= 3 && !needs_statistics;
    if (s[0] != channels && !(may_be_empty && s[0] == 0))
      ctx.fail("scale, offset, mean and variance must have one element per channel: " + ctx.describe(0) +
               " has " + std::to_string(channels) + " channels, " + ctx.describe(i));
  }
  ctx.output(0, x);
  for (int i = 1; i < 5; ++i) ctx.output(i, Shape{channels});
  if (ctx.num_outputs() == 6) ctx.output(5, Shape{0});
}

void batch_norm_grad_shape(ShapeContext& ctx) {
  check_image(ctx, 0);
  check_image(ctx, 1);
  const Shape& x = ctx.input(1);
  if (!ctx.input(0).compatible_with(x))
    ctx.fail("y_backprop and x must have the same shape: " + ctx.describe(0) + ", " + ctx.describe(1));
  const int64_t channels = x.has_rank() ? x[channel_axis(ctx, x)] : -1;
  for (int i = 2; i < 5; ++i) {
    ctx.require_rank(i, 1);
    const Shape& s = ctx.input(i);
    if (s.has_rank() && s[0] >= 0 && channels >= 0 && s[0] != channels)
      ctx.fail("scale and the reserved spaces must have one element per channel: " + ctx.describe(1) +
               " has " + std::to_string(channels) + " channels, " + ctx.describe(i));
  }
  ctx.output(0, x);
  for (int i = 1; i < 3; ++i) ctx.output(i, Shape{channels});
  for (int i = 3; i < 5; ++i) ctx.output(i, Shape{});
}

void lrn_shape(ShapeContext& ctx) {
  for (int i = 0; i < ctx.num_inputs(); ++i) {
    ctx.require_rank(i, 4);
    if (!ctx.input(0).compatible_with(ctx.input(i)))
      ctx.fail("all inputs must have one shape: " + ctx.describe(0) + ", " + ctx.describe(i));
  }
  if (ctx.attr<int64_t>("depth_radius") < 0 || ctx.attr<int64_t>("depth_radius") > (int64_t{1} << 30))
    ctx.fail("depth_radius must not be negative: got " + std::to_string(ctx.attr<int64_t>("depth_radius")));
  same_shape_as_input(ctx);
}

}  // namespace

void register_normalization_ops(OpTable& t) {
  const std::string epsilon = "epsilon: float = 9.99999975e-05; ";
  const std::string factor = "exponential_avg_factor: float = 1.0; ";
  const std::string format = "data_format: {'NHWC', 'NCHW'} = 'NHWC'; is_training: bool = true";
  const std::string any_format =
      "data_format: {'NHWC', 'NCHW', 'NDHWC', 'NCDHW'} = 'NHWC'; is_training: bool = true";
  t.add(
       "FusedBatchNorm(x: T, scale: T, offset: T, mean: T, variance: T) -> (y: T, batch_mean: T, "
       "batch_variance: T, "
       "reserve_space_1: T, reserve_space_2: T); T: {float}; " +
       epsilon + factor + format)
      .shape(batch_norm_shape)
      .tag("fused_batch_norm");
  t.add(
       "FusedBatchNormV2(x: T, scale: U, offset: U, mean: U, variance: U) -> (y: T, batch_mean: U, "
       "batch_variance: U, "
       "reserve_space_1: U, reserve_space_2: U); T: {half, bfloat16, float}; U: {float}; " +
       epsilon + factor + format)
      .shape(batch_norm_shape)
      .tag("fused_batch_norm");
  t.add(
       "FusedBatchNormV3(x: T, scale: U, offset: U, mean: U, variance: U) -> (y: T, batch_mean: U, "
       "batch_variance: U, "
       "reserve_space_1: U, reserve_space_2: U, reserve_space_3: U); T: {half, bfloat16, float}; U: "
       "{bfloat16, float}; " +
       epsilon + factor + any_format)
      .shape(batch_norm_shape)
      .tag("fused_batch_norm");
  t.add(
       "FusedBatchNormGrad(y_backprop: T, x: T, scale: T, reserve_space_1: T, reserve_space_2: T) -> "
       "(x_backprop: T, "
       "scale_backprop: T, offset_backprop: T, reserve_space_3: T, reserve_space_4: T); T: {float}; " +
       epsilon + format)
      .shape(batch_norm_grad_shape);
  t.add(
       "FusedBatchNormGradV2(y_backprop: T, x: T, scale: float, reserve_space_1: U, reserve_space_2: U) -> "
       "(x_backprop: T, scale_backprop: U, offset_backprop: U, reserve_space_3: U, reserve_space_4: U); "
       "T: {half, bfloat16, float}; U: {float}; " +
       epsilon + format)
      .shape(batch_norm_grad_shape);
  t.add(
       "FusedBatchNormGradV3(y_backprop: T, x: T, scale: float, reserve_space_1: U, reserve_space_2: U, "
       "reserve_space_3: U) -> (x_backprop: T, scale_backprop: U, offset_backprop: U, reserve_space_4: U, "
       "reserve_space_5: U); T: {half, bfloat16, float}; U: {float}; " +
       epsilon + any_format)
      .shape(batch_norm_grad_shape);
  const std::string lrn =
      "depth_radius: int = 5; bias: float = 1.0; alpha: float = 1.0; beta: float = 0.5; "
      "T: {half, bfloat16, float} = float";
  t.add("LRN(input: T) -> (output: T); " + lrn).shape(lrn_shape).tag("local_response_normalization");
  t.add("LRNGrad(input_grads: T, input_image: T, output_image: T) -> (output: T); " + lrn).shape(lrn_shape);
}

}  // namespace rw
