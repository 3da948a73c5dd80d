// Pools: rows and shape rules.
#include "rewind/op/pool.h"

#include "rewind/op/table.h"
#include "rewind/op/window.h"

namespace rw {
namespace {

template <int kSpatial>
WindowCall read(const ShapeContext& ctx, const Shape& input) {
  return read_pool({ctx.op(), ctx.attrs(), kSpatial}, input);
}

template <int kSpatial>
void pool_shape(ShapeContext& ctx) {
  ctx.require_rank(0, kSpatial + 2);
  const Shape& input = ctx.input(0);
  Shape output = Shape::unknown_of_rank(kSpatial + 2);
  if (input.has_rank()) {
    const WindowCall call = read<kSpatial>(ctx, input);
    output = call.output(call.channels);
  }
  for (int i = 0; i < ctx.num_outputs(); ++i) ctx.output(i, output);
}

void require_output_shape(ShapeContext& ctx, const WindowCall& call, int i) {
  const Shape wanted = call.output(call.channels);
  if (!wanted.compatible_with(ctx.input(i)))
    ctx.fail("input " + std::to_string(i) + " must have the pool's output shape " + wanted.to_string() +
             ": " + ctx.describe(i));
}

// (orig_input, orig_output, grad): grad is like the output, the result like the input.
template <int kSpatial>
void max_pool_grad_shape(ShapeContext& ctx) {
  for (int i = 0; i < 3; ++i) ctx.require_rank(i, kSpatial + 2);
  if (ctx.input(0).has_rank()) {
    const WindowCall call = read<kSpatial>(ctx, ctx.input(0));
    require_output_shape(ctx, call, 1);
    require_output_shape(ctx, call, 2);
  }
  same_shape_as_input(ctx);
}

// (orig_input, orig_output, grad): grad is like the input, the result like the output.
template <int kSpatial>
void max_pool_grad_grad_shape(ShapeContext& ctx) {
  for (int i = 0; i < 3; ++i) ctx.require_rank(i, kSpatial + 2);
  if (ctx.input(0).has_rank()) {
    require_output_shape(ctx, read<kSpatial>(ctx, ctx.input(0)), 1);
    if (!ctx.input(0).compatible_with(ctx.input(2)))
      ctx.fail("grad must have the input's shape: " + ctx.describe(0) + ", " + ctx.describe(2));
  }
  ctx.output(0, ctx.input(1));
}

template <int kSpatial>
void avg_pool_grad_shape(ShapeContext& ctx) {
  ctx.require_rank(0, 1);
  ctx.require_rank(1, kSpatial + 2);
  const int64_t count = ctx.input(0).has_rank() ? ctx.input(0)[0] : -1;
  if (count >= 0 && count != kSpatial + 2)
    ctx.fail("orig_input_shape must have " + std::to_string(kSpatial + 2) + " numbers: got " +
             std::to_string(count));
  IntVector sizes;
  if (!ctx.ints(0, &sizes)) return ctx.output(0, Shape::unknown_of_rank(kSpatial + 2));
  for (const int64_t s : sizes)
    if (s < 0) ctx.fail("orig_input_shape must not be negative: got " + std::to_string(s));
  const Shape input(std::span<const int64_t>(sizes.data(), sizes.size()));
  require_output_shape(ctx, read<kSpatial>(ctx, input), 1);
  ctx.output(0, input);
}

}  // namespace

void register_pool_ops(OpTable& t) {
  const std::string window2 = "ksize: list(int) >= 4; strides: list(int) >= 4; padding: {'SAME', 'VALID'}; ";
  const std::string window2e =
      "ksize: list(int) >= 4; strides: list(int) >= 4; padding: {'SAME', 'VALID', 'EXPLICIT'}; "
      "explicit_paddings: list(int) = []; ";
  const std::string format2 = "data_format: {'NHWC', 'NCHW'} = 'NHWC'; ";
  const std::string window3 =
      "ksize: list(int) >= 5; strides: list(int) >= 5; padding: {'SAME', 'VALID'}; "
      "data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'; ";
  const std::string floats = "T: {half, bfloat16, float, double}";
  const std::string reals =
      "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}";
  t.add(
       "MaxPool(input: T) -> (output: T); T: {half, bfloat16, float, double, int32, int64, uint8, int16, "
       "int8, uint16, "
       "qint8} = float; " +
       window2e + "data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'")
      .shape(pool_shape<2>)
      .tag("max_pool");
  t.add("MaxPoolGrad(orig_input: T, orig_output: T, grad: T) -> (output: T); " + window2e + format2 + reals +
        " = float")
      .shape(max_pool_grad_shape<2>);
  t.add("MaxPoolGradGrad(orig_input: T, orig_output: T, grad: T) -> (output: T); " + window2 + format2 +
        reals)
      .shape(max_pool_grad_grad_shape<2>);
  t.add(
       "MaxPoolWithArgmax(input: T) -> (output: T, argmax: Targmax); ksize: list(int) >= 4; strides: "
       "list(int) >= 4; "
       "Targmax: {int32, int64} = int64; padding: {'SAME', 'VALID'}; include_batch_in_index: bool = false; " +
       reals)
      .shape(pool_shape<2>)
      .tag("max_pool_with_argmax");
  t.add("AvgPool(value: T) -> (output: T); " + window2 + format2 + floats)
      .shape(pool_shape<2>)
      .tag("avg_pool");
  t.add("AvgPoolGrad(orig_input_shape: int32, grad: T) -> (output: T); " + window2 + format2 + floats)
      .shape(avg_pool_grad_shape<2>)
      .host({"orig_input_shape"});
  t.add("MaxPool3D(input: T) -> (output: T); " + window3 + "T: {half, bfloat16, float}")
      .shape(pool_shape<3>)
      .tag("max_pool3d");
  t.add("MaxPool3DGrad(orig_input: TInput, orig_output: TInput, grad: T) -> (output: T); " + window3 +
        "T: {half, bfloat16, float} = float; TInput: {half, bfloat16, float} = float")
      .shape(max_pool_grad_shape<3>);
  t.add("MaxPool3DGradGrad(orig_input: T, orig_output: T, grad: T) -> (output: T); " + window3 + reals)
      .shape(max_pool_grad_grad_shape<3>);
  t.add("AvgPool3D(input: T) -> (output: T); " + window3 + floats).shape(pool_shape<3>).tag("avg_pool3d");
  t.add("AvgPool3DGrad(orig_input_shape: int32, grad: T) -> (output: T); " + window3 + floats)
      .shape(avg_pool_grad_shape<3>)
      .host({"orig_input_shape"});
}

}  // namespace rw
