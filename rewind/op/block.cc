// Blocks of space moved into depth or into the batch, and back.
#include "rewind/op/shape_rows.h"

namespace rw {
namespace {

// The axes of height, width and depth by data_format.
struct ImageAxes {
  int height, width, depth;
};

ImageAxes image_axes(const ShapeContext& ctx) {
  const auto format = ctx.attr<std::string>("data_format");
  if (format == "NHWC") return {1, 2, 3};
  if (format == "NCHW") return {2, 3, 1};
  ctx.fail("data_format must be NHWC or NCHW: got " + format);
}

void space_to_depth_rule(ShapeContext& ctx) {
  ctx.require_rank(0, 4);
  const ImageAxes axes = image_axes(ctx);
  const auto block = ctx.attr<int64_t>("block_size");
  const Shape& in = ctx.input(0);
  if (!in.has_rank()) return ctx.output(0, Shape::unknown_of_rank(4));
  Shape out = in;
  for (const int a : {axes.height, axes.width}) {
    if (in[a] < 0) continue;
    if (in[a] % block != 0)
      ctx.fail("height and width must be multiples of block_size " + std::to_string(block) + ": " +
               ctx.describe(0));
    out.set(a, in[a] / block);
  }
  if (in[axes.depth] >= 0)
    out.set(axes.depth, checked_product(ctx, in[axes.depth], checked_product(ctx, block, block)));
  ctx.output(0, std::move(out));
}

void depth_to_space_rule(ShapeContext& ctx) {
  ctx.require_rank(0, 4);
  const ImageAxes axes = image_axes(ctx);
  const auto block = ctx.attr<int64_t>("block_size");
  const int64_t square = checked_product(ctx, block, block);
  const Shape& in = ctx.input(0);
  if (!in.has_rank()) return ctx.output(0, Shape::unknown_of_rank(4));
  Shape out = in;
  for (const int a : {axes.height, axes.width})
    if (in[a] >= 0) out.set(a, checked_product(ctx, in[a], block));
  if (in[axes.depth] >= 0) {
    if (in[axes.depth] % square != 0)
      ctx.fail("the depth must be a multiple of block_size squared, " + std::to_string(square) + ": " +
               ctx.describe(0));
    out.set(axes.depth, in[axes.depth] / square);
  }
  ctx.output(0, std::move(out));
}

// block_shape (M,) and paddings or crops (M, 2), for the M axes behind the batch. False while they are not
// known.
bool read_blocks(ShapeContext& ctx, IntVector* block, IntVector* edges) {
  ctx.require_rank(1, 1);
  ctx.require_rank(2, 2);
  const Shape &b = ctx.input(1), &e = ctx.input(2);
  if (b.has_rank() && e.has_rank() && ((e[1] >= 0 && e[1] != 2) || (b[0] >= 0 && e[0] >= 0 && b[0] != e[0])))
    ctx.fail("there must be two numbers per blocked axis: " + ctx.describe(1) + ", " + ctx.describe(2));
  const bool known_block = ctx.ints(1, block), known_edges = ctx.ints(2, edges);
  if (known_block) {
    for (const int64_t v : *block)
      if (v < 1) ctx.fail("block sizes must be positive: got " + list_text(*block));
    if (ctx.input(0).has_rank() && ctx.input(0).rank() < 1 + int(block->size()))
      ctx.fail("the input must have a batch axis and " + std::to_string(block->size()) +
               " blocked ones: " + ctx.describe(0));
  }
  if (known_edges)
    for (const int64_t v : *edges)
      if (v < 0) ctx.fail("paddings and crops must not be negative: got " + list_text(*edges));
  return known_block && known_edges;
}

void space_to_batch_rule(ShapeContext& ctx) {
  IntVector block, paddings;
  const Shape& in = ctx.input(0);
  if (!read_blocks(ctx, &block, &paddings) || !in.has_rank()) return ctx.output(0, same_rank_unknown(in));
  Shape out = in;
  for (size_t k = 0; k < block.size(); ++k) {
    const int a = int(k) + 1;
    if (out[0] >= 0) out.set(0, checked_product(ctx, out[0], block[k]));
    if (in[a] < 0) continue;
    const int64_t padded = checked_sum(ctx, checked_sum(ctx, in[a], paddings[2 * k]), paddings[2 * k + 1]);
    if (padded % block[k] != 0)
      ctx.fail("padded axes must be multiples of the block: axis " + std::to_string(a) + " has " +
               std::to_string(padded) + " with its paddings, the block is " + list_text(block));
    out.set(a, padded / block[k]);
  }
  ctx.output(0, std::move(out));
}

void batch_to_space_rule(ShapeContext& ctx) {
  IntVector block, crops;
  const Shape& in = ctx.input(0);
  if (!read_blocks(ctx, &block, &crops) || !in.has_rank()) return ctx.output(0, same_rank_unknown(in));
  Shape out = in;
  int64_t product = 1;
  for (size_t k = 0; k < block.size(); ++k) {
    const int a = int(k) + 1;
    product = checked_product(ctx, product, block[k]);
    if (in[a] < 0) continue;
    const int64_t size =
        checked_product(ctx, in[a], block[k]) - checked_sum(ctx, crops[2 * k], crops[2 * k + 1]);
    if (size < 0)
      ctx.fail("crops must fit: axis " + std::to_string(a) + " of " + ctx.describe(0) + ", the block is " +
               list_text(block) + ", crops are " + list_text(crops));
    out.set(a, size);
  }
  if (in[0] >= 0) {
    if (in[0] % product != 0)
      ctx.fail("the batch must be a multiple of the block's " + std::to_string(product) +
               " elements: " + ctx.describe(0));
    out.set(0, in[0] / product);
  }
  ctx.output(0, std::move(out));
}

}  // namespace

void register_block_rows(OpTable& t) {
  t.add(
       "SpaceToDepth(input: T) -> (output: T); T: type; block_size: int >= 2; data_format: {'NHWC', 'NCHW', "
       "'NCHW_VECT_C'} = 'NHWC'")
      .shape(space_to_depth_rule)
      .tag("space_to_depth");
  t.add(
       "DepthToSpace(input: T) -> (output: T); T: type; block_size: int >= 2; data_format: {'NHWC', 'NCHW', "
       "'NCHW_VECT_C'} = 'NHWC'")
      .shape(depth_to_space_rule)
      .tag("depth_to_space");
  t.add(
       "SpaceToBatchND(input: T, block_shape: Tblock_shape, paddings: Tpaddings) -> (output: T); T: type; "
       "Tblock_shape: {int32, int64} = int32; Tpaddings: {int32, int64} = int32")
      .shape(space_to_batch_rule)
      .host({"block_shape", "paddings"})
      .tag("space_to_batch");
  t.add(
       "BatchToSpaceND(input: T, block_shape: Tblock_shape, crops: Tcrops) -> (output: T); T: type; "
       "Tblock_shape: "
       "{int32, int64} = int32; Tcrops: {int32, int64} = int32")
      .shape(batch_to_space_rule)
      .host({"block_shape", "crops"})
      .tag("batch_to_space");
}

}  // namespace rw
