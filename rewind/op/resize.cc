// Image resizing: rows and shape rules. Images are (batch, height, width, channels).
#include "rewind/op/pool.h"
#include "rewind/op/table.h"

namespace rw {
namespace {

void check_flags(ShapeContext& ctx) {
  if (ctx.attr<bool>("half_pixel_centers") && ctx.attr<bool>("align_corners"))
    ctx.fail("half_pixel_centers and align_corners exclude each other: both are true");
}

void resize_shape(ShapeContext& ctx) {
  ctx.require_rank(0, 4);
  ctx.require_rank(1, 1);
  check_flags(ctx);
  const Shape& images = ctx.input(0);
  Shape out = Shape::unknown_of_rank(4);
  if (images.has_rank()) {
    out.set(0, images[0]);
    out.set(3, images[3]);
  }
  IntVector size;
  if (ctx.ints(1, &size)) {
    if (size.size() != 2)
      ctx.fail("size must have two numbers, height and width: got " + std::to_string(size.size()));
    for (const int64_t s : size)
      if (s <= 0)
        ctx.fail("sizes must be positive: got " + std::to_string(size[0]) + ", " + std::to_string(size[1]));
    if (images.has_rank() && (images[1] == 0 || images[2] == 0))
      ctx.fail("images must have pixels: " + ctx.describe(0));
    out.set(1, size[0]);
    out.set(2, size[1]);
  }
  ctx.output(0, out);
}

void bilinear_grad_shape(ShapeContext& ctx) {
  ctx.require_rank(0, 4);
  ctx.require_rank(1, 4);
  check_flags(ctx);
  const Shape& grads = ctx.input(0);
  const Shape& image = ctx.input(1);
  if (grads.has_rank() && image.has_rank())
    for (const int axis : {0, 3})
      if (grads[axis] >= 0 && image[axis] >= 0 && grads[axis] != image[axis])
        ctx.fail("grads and original_image must have the same batch and channels: " + ctx.describe(0) + ", " +
                 ctx.describe(1));
  ctx.output(0, image.has_rank() ? image : Shape::unknown_of_rank(4));
}

}  // namespace

void register_resize_ops(OpTable& t) {
  const std::string flags = "align_corners: bool = false; half_pixel_centers: bool = false";
  t.add(
       "ResizeBilinear(images: T, size: int32) -> (resized_images: float); T: {int8, uint8, int16, uint16, "
       "int32, "
       "int64, bfloat16, half, float, double, bfloat16}; " +
       flags)
      .shape(resize_shape)
      .host({"size"})
      .tag("resize_bilinear");
  t.add(
       "ResizeBilinearGrad(grads: float, original_image: T) -> (output: T); T: {float, bfloat16, half, "
       "double}; " +
       flags)
      .shape(bilinear_grad_shape);
  t.add(
       "ResizeNearestNeighbor(images: T, size: int32) -> (resized_images: T); T: {int8, uint8, int16, "
       "uint16, int32, "
       "int64, half, float, double, bfloat16}; " +
       flags)
      .shape(resize_shape)
      .host({"size"})
      .tag("resize_nearest_neighbor");
  t.add(
       "ResizeNearestNeighborGrad(grads: T, size: int32) -> (output: T); T: {uint8, int8, int32, half, "
       "float, double, "
       "bfloat16}; " +
       flags)
      .shape(resize_shape)
      .host({"size"});
}

}  // namespace rw
