// Pads, tiles, reversals and rolls.
#include "rewind/op/shape_rows.h"

namespace rw {
namespace {

void tile_rule(ShapeContext& ctx) {
  ctx.require_rank(1, 1);
  const Shape& in = ctx.input(0);
  IntVector multiples;
  if (!ctx.ints(1, &multiples)) return ctx.output(0, same_rank_unknown(in));
  if (!in.has_rank()) return ctx.output(0, Shape::unknown_of_rank(int(multiples.size())));
  if (int(multiples.size()) != in.rank())
    ctx.fail("multiples must have one number per axis: " + ctx.describe(0) + ", multiples are " +
             list_text(multiples));
  Shape out = in;
  for (int k = 0; k < in.rank(); ++k) {
    if (multiples[size_t(k)] < 0) ctx.fail("multiples must not be negative: got " + list_text(multiples));
    if (in[k] >= 0) out.set(k, checked_product(ctx, in[k], multiples[size_t(k)]));
  }
  ctx.output(0, std::move(out));
}

// Paddings of input 0, as a matrix of (rank, 2). False while they are not known.
bool read_paddings(ShapeContext& ctx, IntVector* paddings) {
  ctx.require_rank(1, 2);
  const Shape &in = ctx.input(0), &p = ctx.input(1);
  if (p.has_rank() && ((p[1] >= 0 && p[1] != 2) || (in.has_rank() && p[0] >= 0 && p[0] != in.rank())))
    ctx.fail("paddings must have two numbers per axis: " + ctx.describe(0) + ", " + ctx.describe(1));
  if (!ctx.ints(1, paddings)) return false;
  for (const int64_t v : *paddings)
    if (v < 0) ctx.fail("paddings must not be negative: got " + list_text(*paddings));
  return true;
}

void pad_rule(ShapeContext& ctx) {
  IntVector paddings;
  const bool known = read_paddings(ctx, &paddings);
  if (ctx.num_inputs() > 2) ctx.require_scalar(2);
  const Shape& in = ctx.input(0);
  if (!known || !in.has_rank()) {
    const Shape& p = ctx.input(1);
    if (!in.has_rank() && p.has_rank() && p[0] >= 0) return ctx.output(0, Shape::unknown_of_rank(int(p[0])));
    return ctx.output(0, same_rank_unknown(in));
  }
  Shape out = in;
  for (int k = 0; k < in.rank(); ++k) {
    if (in[k] < 0) continue;
    out.set(k,
            checked_sum(ctx, checked_sum(ctx, in[k], paddings[2 * size_t(k)]), paddings[2 * size_t(k) + 1]));
  }
  ctx.output(0, std::move(out));
}

// A mirrored pad of an axis of `size` elements reaches at most to its other end.
void check_mirror(ShapeContext& ctx, const IntVector& paddings, int axis, int64_t size, bool reflect) {
  const int64_t most = reflect ? size - 1 : size;
  for (size_t side : {0, 1}) {
    if (paddings[2 * size_t(axis) + side] <= most) continue;
    ctx.fail("paddings must not be greater than the size" + std::string(reflect ? " - 1" : "") + ": axis " +
             std::to_string(axis) + " has size " + std::to_string(size) + ", paddings are " +
             list_text(paddings));
  }
}

void mirror_pad_rule(ShapeContext& ctx) {
  pad_rule(ctx);
  IntVector paddings;
  if (!read_paddings(ctx, &paddings) || !ctx.input(0).has_rank()) return;
  const bool reflect = ctx.attr<std::string>("mode") == "REFLECT";
  for (int k = 0; k < ctx.input(0).rank(); ++k)
    if (ctx.input(0)[k] >= 0) check_mirror(ctx, paddings, k, ctx.input(0)[k], reflect);
}

void mirror_pad_grad_rule(ShapeContext& ctx) {
  IntVector paddings;
  const Shape& in = ctx.input(0);
  if (!read_paddings(ctx, &paddings) || !in.has_rank()) return ctx.output(0, same_rank_unknown(in));
  const bool reflect = ctx.attr<std::string>("mode") == "REFLECT";
  Shape out = in;
  for (int k = 0; k < in.rank(); ++k) {
    if (in[k] < 0) continue;
    const int64_t both = checked_sum(ctx, paddings[2 * size_t(k)], paddings[2 * size_t(k) + 1]);
    if (both > in[k])
      ctx.fail("paddings must fit into the input: " + ctx.describe(0) + ", paddings are " +
               list_text(paddings));
    out.set(k, in[k] - both);
    check_mirror(ctx, paddings, k, out[k], reflect);
  }
  ctx.output(0, std::move(out));
}

void reverse_v2_rule(ShapeContext& ctx) {
  ctx.require_rank(1, 1);
  const Shape& in = ctx.input(0);
  IntVector axes;
  if (in.has_rank() && ctx.ints(1, &axes)) {
    SmallVector<bool, 8> seen(size_t(in.rank()), false);
    for (const int64_t a : axes) {
      bool& flag = seen[size_t(ctx.axis(a, in.rank()))];
      if (flag) ctx.fail("an axis may be named once: got " + list_text(axes));
      flag = true;
    }
  }
  ctx.output(0, in);
}

void reverse_v1_rule(ShapeContext& ctx) {
  ctx.require_rank(1, 1);
  const Shape& in = ctx.input(0);
  if (in.has_rank() && ctx.input(1).has_rank() && ctx.input(1)[0] >= 0 && ctx.input(1)[0] != in.rank())
    ctx.fail("dims must have one flag per axis: " + ctx.describe(0) + ", " + ctx.describe(1));
  ctx.output(0, in);
}

void reverse_sequence_rule(ShapeContext& ctx) {
  ctx.require_rank(1, 1);
  const Shape& in = ctx.input(0);
  const auto seq = ctx.attr<int64_t>("seq_dim"), batch = ctx.attr<int64_t>("batch_dim");
  if (in.has_rank()) {
    for (const int64_t a : {seq, batch})
      if (a < 0 || a >= in.rank())
        ctx.fail("seq_axis and batch_axis must be axes of the input: got " + std::to_string(a) + ", " +
                 ctx.describe(0));
    if (seq == batch) ctx.fail("seq_axis and batch_axis must differ: both are " + std::to_string(seq));
    merge_sizes(ctx, in[int(batch)], ctx.input(1).has_rank() ? ctx.input(1)[0] : -1,
                "there must be one length per batch element");
  }
  ctx.output(0, in);
}

void roll_rule(ShapeContext& ctx) {
  const Shape& in = ctx.input(0);
  if (in.has_rank() && in.rank() == 0) ctx.fail("a scalar cannot be rolled");
  for (int i : {1, 2})
    if (ctx.input(i).has_rank() && ctx.input(i).rank() > 1)
      ctx.fail(ctx.describe(i) + ", and must be a number or a list of them");
  if (!ctx.input(1).compatible_with(ctx.input(2)))
    ctx.fail("shift and axis must be equally long: " + ctx.describe(1) + ", " + ctx.describe(2));
  IntVector axes;
  if (in.has_rank() && ctx.ints(2, &axes))
    for (const int64_t a : axes) ctx.axis(a, in.rank());
  ctx.output(0, in);
}

constexpr const char* kReversible = "bfloat16, half, float, double, complex64, complex128, string}";

}  // namespace

void register_pad_rows(OpTable& t) {
  t.add("Tile(input: T, multiples: Tmultiples) -> (output: T); T: type; Tmultiples: {int32, int64} = int32")
      .shape(tile_rule)
      .host({"multiples"})
      .tag("tile");
  t.add("Pad(input: T, paddings: Tpaddings) -> (output: T); T: type; Tpaddings: {int32, int64} = int32")
      .shape(pad_rule)
      .host({"paddings"})
      .tag("pad");
  t.add(
       "PadV2(input: T, paddings: Tpaddings, constant_values: T) -> (output: T); T: type; Tpaddings: {int32, "
       "int64} = int32")
      .shape(pad_rule)
      .host({"paddings"})
      .tag("pad");
  t.add(
       "MirrorPad(input: T, paddings: Tpaddings) -> (output: T); T: type; Tpaddings: {int32, int64} = int32; "
       "mode: "
       "{'REFLECT', 'SYMMETRIC'}")
      .shape(mirror_pad_rule)
      .host({"paddings"})
      .tag("pad");
  t.add(
       "MirrorPadGrad(input: T, paddings: Tpaddings) -> (output: T); T: type; Tpaddings: {int32, int64} = "
       "int32; "
       "mode: {'REFLECT', 'SYMMETRIC'}")
      .shape(mirror_pad_grad_rule)
      .host({"paddings"});
  t.add(
       "ReverseV2(tensor: T, axis: Tidx) -> (output: T); Tidx: {int32, int64} = int32; T: {uint8, int8, "
       "uint16, "
       "int16, int32, uint32, int64, uint64, bool, " +
       std::string(kReversible))
      .shape(reverse_v2_rule)
      .host({"axis"})
      .tag("reverse");
  t.add(
       "Reverse(tensor: T, dims: bool) -> (output: T); T: {uint8, int8, uint16, int16, uint32, int32, "
       "uint64, "
       "int64, bool, " +
       std::string(kReversible))
      .shape(reverse_v1_rule)
      .host({"dims"})
      .tag("reverse");
  t.add(
       "ReverseSequence(input: T, seq_lengths: Tlen) -> (output: T); seq_dim: int; batch_dim: int = 0; T: "
       "type; "
       "Tlen: {int32, int64} = int64")
      .shape(reverse_sequence_rule)
      .host({"seq_lengths"})
      .tag("reverse_sequence");
  t.add(
       "Roll(input: T, shift: Tshift, axis: Taxis) -> (output: T); T: type; Tshift: {int32, int64}; Taxis: "
       "{int32, int64}")
      .shape(roll_rule)
      .host({"shift", "axis"})
      .tag("roll");
}

}  // namespace rw
