// Ops that take strings apart and put them together: rows and shape rules.
#include "rewind/op/table.h"

namespace rw {
namespace {

void split_shape(ShapeContext& ctx) {
  ctx.require_rank(0, 1);
  ctx.require_scalar(1);
  ctx.output(0, Shape{Shape::kUnknown, 2});
  ctx.output(1, Shape{Shape::kUnknown});
  ctx.output(2, Shape{2});
}

void split_v2_shape(ShapeContext& ctx) {
  if (const auto n = ctx.attr<int64_t>("maxsplit"); n < -1)
    ctx.fail("maxsplit must be at least -1: got " + std::to_string(n));
  split_shape(ctx);
}

// The splits of the result stand beside those of the data.
void ngrams_shape(ShapeContext& ctx) {
  ctx.require_rank(0, 1);
  ctx.require_rank(1, 1);
  for (const int64_t width : ctx.attr<std::vector<int64_t>>("ngram_widths"))
    if (width < 1) ctx.fail("ngram_widths must be positive: got " + std::to_string(width));
  ctx.output(0, Shape{Shape::kUnknown});
  ctx.output(1, ctx.input(1));
}

// pos and len of one shape, which broadcasts with the strings'.
void substr_shape(ShapeContext& ctx) {
  if (!ctx.input(1).compatible_with(ctx.input(2)))
    ctx.fail("pos and len must have one shape: " + ctx.describe(1) + ", " + ctx.describe(2));
  Shape out;
  if (!broadcast_shapes(ctx.input(0), ctx.input(1), &out))
    ctx.fail("the shapes do not broadcast: " + ctx.describe(0) + ", " + ctx.describe(1));
  ctx.output(0, std::move(out));
}

// As a sum's axes, but in an order that counts.
void reduce_join_shape(ShapeContext& ctx) {
  const Shape& in = ctx.input(0);
  const Shape& axes_shape = ctx.input(1);
  if (axes_shape.has_rank() && axes_shape.rank() > 1)
    ctx.fail("axis must be a number or a list of numbers: " + ctx.describe(1));
  const bool keep = ctx.attr<bool>("keep_dims");
  if (!in.has_rank()) return ctx.output(0, Shape::unknown_rank());
  IntVector axes;
  if (!ctx.ints(1, &axes)) {
    const int64_t count = axes_shape.num_elements();
    if (keep) ctx.output(0, Shape::unknown_of_rank(in.rank()));
    else
      ctx.output(0, count >= 0 && count <= in.rank() ? Shape::unknown_of_rank(int(in.rank() - count))
                                                     : Shape::unknown_rank());
    return;
  }
  SmallVector<bool, 8> reduced(size_t(in.rank()), false);
  for (const int64_t a : axes) {
    bool& mark = reduced[size_t(ctx.axis(a, in.rank()))];
    if (mark) ctx.fail("each axis may be given once: got axis " + std::to_string(a) + " twice");
    mark = true;
  }
  Shape out;
  for (int a = 0; a < in.rank(); ++a) {
    if (!reduced[size_t(a)]) out.append(in[a]);
    else if (keep) out.append(1);
  }
  ctx.output(0, std::move(out));
}

// [num_segments] + inputs[ids.rank:]
void segment_join_shape(ShapeContext& ctx) {
  ctx.require_scalar(2);
  IntVector count;
  const bool known = ctx.ints(2, &count);
  if (known && count[0] < 0) ctx.fail("num_segments must not be negative: got " + std::to_string(count[0]));
  const Shape& data = ctx.input(0);
  const Shape& ids = ctx.input(1);
  if (!data.has_rank() || !ids.has_rank()) return ctx.output(0, Shape::unknown_rank());
  bool prefix = ids.rank() <= data.rank();
  for (int d = 0; prefix && d < ids.rank(); ++d) prefix = ids[d] < 0 || data[d] < 0 || ids[d] == data[d];
  if (!prefix)
    ctx.fail("the shape of inputs must begin with that of segment_ids: " + ctx.describe(0) + ", " +
             ctx.describe(1));
  Shape out{known ? count[0] : Shape::kUnknown};
  for (int d = ids.rank(); d < data.rank(); ++d) out.append(data[d]);
  ctx.output(0, std::move(out));
}

}  // namespace

void register_string_part_ops(OpTable& t) {
  t.add(
       "StringSplit(input: string, delimiter: string) -> (indices: int64, values: string, shape: int64); "
       "skip_empty: bool = true")
      .shape(split_shape)
      .tag("strings.split");
  t.add(
       "StringSplitV2(input: string, sep: string) -> (indices: int64, values: string, shape: int64); "
       "maxsplit: int = -1")
      .shape(split_v2_shape)
      .tag("strings.split");
  t.add(
       "StringNGrams(data: string, data_splits: Tsplits) -> (ngrams: string, ngrams_splits: Tsplits); "
       "separator: string; ngram_widths: list(int) >= 0; left_pad: string; right_pad: string; pad_width: "
       "int; "
       "preserve_short_sequences: bool; Tsplits: {int32, int64} = int64")
      .shape(ngrams_shape)
      .tag("strings.ngrams");
  t.add(
       "Substr(input: string, pos: T, len: T) -> (output: string); T: {int32, int64}; "
       "unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'")
      .shape(substr_shape)
      .tag("strings.substr");
  t.add(
       "ReduceJoin(inputs: string, reduction_indices: int32) -> (output: string); keep_dims: bool = false; "
       "separator: string = ''")
      .shape(reduce_join_shape)
      .host({"reduction_indices"})
      .tag("strings.reduce_join");
  t.add(
       "UnsortedSegmentJoin(inputs: string, segment_ids: Tindices, num_segments: Tnumsegments) -> "
       "(output: string); separator: string = ''; Tindices: {int32, int64}; Tnumsegments: {int32, int64} = "
       "int32")
      .shape(segment_join_shape)
      .host({"num_segments"})
      .tag("strings.unsorted_segment_join");
}

}  // namespace rw
