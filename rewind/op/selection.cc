// Ops that choose elements: positions of what is true, distinct values, largest ones, places in sorted rows,
// partitions.
#include "rewind/op/table.h"

namespace rw {
namespace {

void where_shape(ShapeContext& ctx) {
  const Shape& x = ctx.input(0);
  if (x.has_rank() && x.rank() == 0)
    ctx.fail("the condition must have at least one axis: " + ctx.describe(0));
  ctx.output(0, {Shape::kUnknown, x.has_rank() ? x.rank() : Shape::kUnknown});
}

// y has as many elements along the axis as there are distinct ones; idx is as long as the axis.
void unique_v2_shape(ShapeContext& ctx) {
  const Shape& x = ctx.input(0);
  Shape y = x;
  int64_t length = Shape::kUnknown;
  IntVector axis;
  const bool has_axis = ctx.num_inputs() == 2;
  if (has_axis) ctx.require_rank(1, 1);
  const bool known = !has_axis || ctx.ints(1, &axis);
  if (x.has_rank() && known) {
    if (axis.size() > 1) ctx.fail("axis must hold at most one number: " + ctx.describe(1));
    if (axis.empty() && x.rank() != 1) ctx.fail("without an axis, x must have one: " + ctx.describe(0));
    const int at = axis.empty() ? 0 : ctx.axis(axis[0], x.rank());
    length = x[at];
    y.set(at, Shape::kUnknown);
  } else if (x.has_rank()) {
    y = Shape::unknown_of_rank(x.rank());
  }
  ctx.output(0, std::move(y));
  ctx.output(1, {length});
  if (ctx.num_outputs() == 3) ctx.output(2, {Shape::kUnknown});
}

void top_k_output(ShapeContext& ctx, bool known, int64_t k) {
  const Shape& x = ctx.input(0);
  if (known && k < 0) ctx.fail("k must not be negative: got " + std::to_string(k));
  if (!x.has_rank()) {
    ctx.output(0, x);
    return ctx.output(1, x);
  }
  if (x.rank() == 0) ctx.fail("input must have at least one axis: " + ctx.describe(0));
  if (known && x.back() >= 0 && k > x.back())
    ctx.fail("k must not be greater than the last axis: got " + std::to_string(k) + ", " + ctx.describe(0));
  Shape out = x;
  out.set(x.rank() - 1, known ? k : Shape::kUnknown);
  ctx.output(0, out);
  ctx.output(1, std::move(out));
}

void top_k_shape(ShapeContext& ctx) { top_k_output(ctx, true, ctx.attr<int64_t>("k")); }

void top_k_v2_shape(ShapeContext& ctx) {
  ctx.require_scalar(1);
  IntVector k;
  const bool known = ctx.ints(1, &k);
  top_k_output(ctx, known, known ? k[0] : 0);
}

void in_top_k_shape(ShapeContext& ctx) {
  ctx.require_rank(0, 2);
  ctx.require_rank(1, 1);
  if (ctx.num_inputs() == 3) ctx.require_scalar(2);
  const Shape& predictions = ctx.input(0);
  const Shape& targets = ctx.input(1);
  int64_t rows = targets.has_rank() ? targets[0] : Shape::kUnknown;
  if (predictions.has_rank() && predictions[0] >= 0) {
    if (rows >= 0 && rows != predictions[0])
      ctx.fail("targets must hold one class per row of predictions: " + ctx.describe(0) + ", " +
               ctx.describe(1));
    rows = predictions[0];
  }
  ctx.output(0, {rows});
}

void bound_shape(ShapeContext& ctx) {
  ctx.require_rank(0, 2);
  ctx.require_rank(1, 2);
  const Shape& sorted = ctx.input(0);
  const Shape& values = ctx.input(1);
  if (sorted.has_rank() && values.has_rank() && sorted[0] >= 0 && values[0] >= 0 && sorted[0] != values[0])
    ctx.fail("both must have as many rows: " + ctx.describe(0) + ", " + ctx.describe(1));
  ctx.output(0, values);
}

void partition_shape(ShapeContext& ctx) {
  const Shape& data = ctx.input(0);
  const Shape& partitions = ctx.input(1);
  Shape out = Shape::unknown_rank();
  if (data.has_rank() && partitions.has_rank()) {
    bool prefix = partitions.rank() <= data.rank();
    for (int d = 0; prefix && d < partitions.rank(); ++d)
      prefix = data[d] < 0 || partitions[d] < 0 || data[d] == partitions[d];
    if (!prefix)
      ctx.fail("data's shape must begin with partitions' shape: " + ctx.describe(0) + ", " + ctx.describe(1));
    out = Shape{Shape::kUnknown};
    for (int d = partitions.rank(); d < data.rank(); ++d) out.append(data[d]);
  }
  for (int i = 0; i < ctx.num_outputs(); ++i) ctx.output(i, out);
}

// data[i] is indices[i]'s shape and a row's; all rows have one shape. The number of rows is in the indices.
void stitch_shape(ShapeContext& ctx) {
  const int n = ctx.num_inputs() / 2;
  Shape out = Shape::unknown_rank();
  for (int i = 0; i < n; ++i) {
    const Shape& indices = ctx.input(i);
    const Shape& data = ctx.input(n + i);
    if (!indices.has_rank() || !data.has_rank()) continue;
    bool prefix = indices.rank() <= data.rank();
    for (int d = 0; prefix && d < indices.rank(); ++d)
      prefix = data[d] < 0 || indices[d] < 0 || data[d] == indices[d];
    if (!prefix)
      ctx.fail("the shape of data[" + std::to_string(i) + "] must begin with that of indices[" +
               std::to_string(i) + "]: " + data.to_string() + ", " + indices.to_string());
    Shape rows{Shape::kUnknown};
    for (int d = indices.rank(); d < data.rank(); ++d) rows.append(data[d]);
    if (!out.compatible_with(rows))
      ctx.fail("all data must have rows of one shape: data[" + std::to_string(i) + "] is " +
               data.to_string() + " with indices " + indices.to_string());
    if (!out.has_rank()) out = rows;
  }
  ctx.output(0, std::move(out));
}

void list_diff_shape(ShapeContext& ctx) {
  ctx.require_rank(0, 1);
  ctx.require_rank(1, 1);
  ctx.output(0, {Shape::kUnknown});
  ctx.output(1, {Shape::kUnknown});
}

}  // namespace

void register_selection_ops(OpTable& t) {
  t.add(
       "Where(input: T) -> (index: int64); T: {float, double, int32, uint8, int16, int8, complex64, int64, "
       "qint8, "
       "quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64, bool} = bool")
      .shape(where_shape)
      .tag("where");
  t.add("Unique(x: T) -> (y: T, idx: out_idx); T: type; out_idx: {int32, int64} = int32")
      .shape(unique_v2_shape)
      .tag("unique");
  t.add(
       "UniqueV2(x: T, axis: Taxis) -> (y: T, idx: out_idx); T: type; Taxis: {int32, int64} = int64; "
       "out_idx: {int32, int64} = int32")
      .shape(unique_v2_shape)
      .host({"axis"})
      .tag("unique");
  t.add(
       "UniqueWithCounts(x: T) -> (y: T, idx: out_idx, count: out_idx); T: type; out_idx: {int32, int64} = "
       "int32")
      .shape(unique_v2_shape)
      .tag("unique_with_counts");
  t.add(
       "UniqueWithCountsV2(x: T, axis: Taxis) -> (y: T, idx: out_idx, count: out_idx); T: type; "
       "Taxis: {int32, int64} = int64; out_idx: {int32, int64} = int32")
      .shape(unique_v2_shape)
      .host({"axis"})
      .tag("unique_with_counts");
  t.add("TopK(input: T) -> (values: T, indices: int32); k: int >= 0; sorted: bool = true; T: {real}")
      .shape(top_k_shape)
      .tag("top_k");
  t.add(
       "TopKV2(input: T, k: Tk) -> (values: T, indices: index_type); sorted: bool = true; T: {real}; "
       "Tk: {int16, int32, int64} = int32; index_type: {int16, int32, int64} = int32")
      .shape(top_k_v2_shape)
      .host({"k"})
      .tag("top_k");
  t.add("InTopK(predictions: float, targets: T) -> (precision: bool); k: int; T: {int32, int64} = int32")
      .shape(in_top_k_shape)
      .tag("in_top_k");
  t.add("InTopKV2(predictions: float, targets: T, k: T) -> (precision: bool); T: {int32, int64} = int32")
      .shape(in_top_k_shape)
      .host({"k"})
      .tag("in_top_k");
  for (const char* side : {"Lower", "Upper"})
    t.add(std::string(side) +
          "Bound(sorted_inputs: T, values: T) -> (output: out_type); T: type; "
          "out_type: {int32, int64} = int32")
        .shape(bound_shape)
        .tag("searchsorted");
  t.add(
       "DynamicPartition(data: T, partitions: int32) -> (outputs: num_partitions * T); num_partitions: int "
       ">= 1; "
       "T: type")
      .shape(partition_shape)
      .tag("dynamic_partition");
  for (const char* kind : {"", "Parallel"})
    t.add(std::string(kind) +
          "DynamicStitch(indices: N * int32, data: N * T) -> (merged: T); N: int >= 1; T: type")
        .shape(stitch_shape)
        .tag("dynamic_stitch");
  t.add("ListDiff(x: T, y: T) -> (out: T, idx: out_idx); T: type; out_idx: {int32, int64} = int32")
      .shape(list_diff_shape)
      .tag("setdiff1d");
}

}  // namespace rw
