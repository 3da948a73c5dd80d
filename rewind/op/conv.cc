// Convolutions: rows and shape rules.
#include "rewind/op/pool.h"
#include "rewind/op/table.h"
#include "rewind/op/window.h"

namespace rw {
namespace {

template <int kSpatial>
WindowReader reader(const ShapeContext& ctx) {
  return {ctx.op(), ctx.attrs(), kSpatial};
}

template <int kSpatial, bool kDepthwise = false>
void conv_shape(ShapeContext& ctx) {
  for (int i = 0; i < 2; ++i) ctx.require_rank(i, kSpatial + 2);
  if (!ctx.input(0).has_rank() || !ctx.input(1).has_rank())
    return ctx.output(0, Shape::unknown_of_rank(kSpatial + 2));
  const ConvCall call = read_conv(reader<kSpatial>(ctx), ctx.input(0), ctx.input(1), kDepthwise);
  ctx.output(0, call.window.output(call.out_channels));
}

// A shape that comes as the value of input i; false while it is not known.
bool shape_value(ShapeContext& ctx, int i, int rank, Shape* shape) {
  ctx.require_rank(i, 1);
  const int64_t count = ctx.input(i).has_rank() ? ctx.input(i)[0] : -1;
  if (count >= 0 && count != rank)
    ctx.fail(ctx.op().inputs[size_t(i)].name + " must have " + std::to_string(rank) + " numbers: got " +
             std::to_string(count));
  IntVector sizes;
  if (!ctx.ints(i, &sizes)) return false;
  for (const int64_t s : sizes)
    if (s < 0)
      ctx.fail(ctx.op().inputs[size_t(i)].name + " must not be negative: got " +
               Shape(std::span<const int64_t>(sizes.data(), sizes.size())).to_string());
  *shape = Shape(std::span<const int64_t>(sizes.data(), sizes.size()));
  return true;
}

void require_gradient_shape(ShapeContext& ctx, const ConvCall& call) {
  const Shape wanted = call.window.output(call.out_channels);
  if (!wanted.compatible_with(ctx.input(2)))
    ctx.fail("out_backprop must have the convolution's output shape " + wanted.to_string() + ": " +
             ctx.describe(2));
}

template <int kSpatial, bool kDepthwise = false>
void conv_input_grad_shape(ShapeContext& ctx) {
  for (int i = 1; i < 3; ++i) ctx.require_rank(i, kSpatial + 2);
  Shape input = Shape::unknown_of_rank(kSpatial + 2);
  IntVector sizes;
  // Only the height and width: the rest follows.
  const bool partial = kSpatial == 2 && ctx.input(0).rank() == 1 && ctx.input(0)[0] == 2;
  if (partial) {
    if (!ctx.ints(0, &sizes) || !ctx.input(2).has_rank() || !ctx.input(1).has_rank())
      return ctx.output(0, input);
    const bool first = reader<2>(ctx).channels_first();
    input = first ? Shape{ctx.input(2)[0], ctx.input(1)[2], sizes[0], sizes[1]}
                  : Shape{ctx.input(2)[0], sizes[0], sizes[1], ctx.input(1)[2]};
  } else if (!shape_value(ctx, 0, kSpatial + 2, &input)) {
    return ctx.output(0, input);
  }
  if (ctx.input(1).has_rank())
    require_gradient_shape(ctx, read_conv(reader<kSpatial>(ctx), input, ctx.input(1), kDepthwise));
  ctx.output(0, input);
}

template <int kSpatial, bool kDepthwise = false>
void conv_filter_grad_shape(ShapeContext& ctx) {
  ctx.require_rank(0, kSpatial + 2);
  ctx.require_rank(2, kSpatial + 2);
  Shape filter = Shape::unknown_of_rank(kSpatial + 2);
  if (!shape_value(ctx, 1, kSpatial + 2, &filter)) return ctx.output(0, filter);
  if (ctx.input(0).has_rank())
    require_gradient_shape(ctx, read_conv(reader<kSpatial>(ctx), ctx.input(0), filter, kDepthwise));
  ctx.output(0, filter);
}

constexpr const char* k2D =
    "strides: list(int); use_cudnn_on_gpu: bool = true; padding: {'SAME', 'VALID', 'EXPLICIT'}; "
    "explicit_paddings: list(int) = []; data_format: {'NHWC', 'NCHW'} = 'NHWC'; dilations: list(int) = [1, "
    "1, 1, 1]";
constexpr const char* k3D =
    "strides: list(int) >= 5; padding: {'SAME', 'VALID'}; data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'; "
    "dilations: list(int) = [1, 1, 1, 1, 1]";
constexpr const char* kDepthwise =
    "strides: list(int); padding: {'SAME', 'VALID', 'EXPLICIT'}; explicit_paddings: list(int) = []; "
    "data_format: {'NHWC', 'NCHW'} = 'NHWC'; dilations: list(int) = [1, 1, 1, 1]";

}  // namespace

void register_conv_ops(OpTable& t) {
  const std::string floats = "T: {half, bfloat16, float, double}; ";
  const std::string with_int32 = "T: {half, bfloat16, float, double, int32}; ";
  t.add("Conv2D(input: T, filter: T) -> (output: T); " + with_int32 + k2D).shape(conv_shape<2>).tag("conv2d");
  t.add("Conv2DBackpropInput(input_sizes: int32, filter: T, out_backprop: T) -> (output: T); " + with_int32 +
        k2D)
      .shape(conv_input_grad_shape<2>)
      .host({"input_sizes"});
  t.add("Conv2DBackpropFilter(input: T, filter_sizes: int32, out_backprop: T) -> (output: T); " + floats +
        k2D)
      .shape(conv_filter_grad_shape<2>)
      .host({"filter_sizes"});
  t.add("Conv3D(input: T, filter: T) -> (output: T); " + floats + k3D).shape(conv_shape<3>).tag("conv3d");
  t.add("Conv3DBackpropInputV2(input_sizes: Tshape, filter: T, out_backprop: T) -> (output: T); " + floats +
        k3D + "; Tshape: {int32, int64} = int32")
      .shape(conv_input_grad_shape<3>)
      .host({"input_sizes"});
  t.add("Conv3DBackpropFilterV2(input: T, filter_sizes: int32, out_backprop: T) -> (output: T); " + floats +
        k3D)
      .shape(conv_filter_grad_shape<3>)
      .host({"filter_sizes"});
  t.add("DepthwiseConv2dNative(input: T, filter: T) -> (output: T); " + floats + kDepthwise)
      .shape(conv_shape<2, true>)
      .tag("depthwise_conv2d");
  t.add(
       "DepthwiseConv2dNativeBackpropInput(input_sizes: int32, filter: T, out_backprop: T) -> (output: T); " +
       floats + kDepthwise)
      .shape(conv_input_grad_shape<2, true>)
      .host({"input_sizes"});
  t.add(
       "DepthwiseConv2dNativeBackpropFilter(input: T, filter_sizes: int32, out_backprop: T) -> (output: "
       "T); " +
       floats + kDepthwise)
      .shape(conv_filter_grad_shape<2, true>)
      .host({"filter_sizes"});
  register_pool_ops(t);
  register_resize_ops(t);
}

}  // namespace rw
