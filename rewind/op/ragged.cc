// Rows of different lengths, as their values and where rows begin: rows of the op table and shape rules.
#include <limits>
#include <optional>

#include "rewind/op/table.h"

namespace rw {
namespace {

// How many axes the partitions make: the first may only say how many rows there are.
int ragged_rank(ShapeContext& ctx) {
  const auto types = ctx.attr<std::vector<std::string>>("row_partition_types");
  const int partitions = ctx.num_inputs() - 3;
  if (int(types.size()) != partitions)
    ctx.fail("row_partition_types must name the type of each partition: expected " +
             std::to_string(partitions) + ", got " + std::to_string(types.size()));
  for (size_t i = 0; i < types.size(); ++i) {
    const bool first = types[i] == "FIRST_DIM_SIZE";
    if ((i == 0) != first && (first || types[i] != "ROW_SPLITS") && types[i] != "VALUE_ROWIDS")
      ctx.fail("row_partition_types must be ROW_SPLITS or VALUE_ROWIDS, behind FIRST_DIM_SIZE: got " +
               types[i]);
    if (types[i] == "VALUE_ROWIDS" && types[0] != "FIRST_DIM_SIZE")
      ctx.fail("VALUE_ROWIDS need FIRST_DIM_SIZE in front of them");
    ctx.require_rank(int(i) + 3, first ? 0 : 1);
  }
  const int ragged = partitions - (types[0] == "FIRST_DIM_SIZE");
  if (ragged == 0) ctx.fail("row_partition_types must have ROW_SPLITS or VALUE_ROWIDS among them");
  return ragged;
}

void to_tensor_shape(ShapeContext& ctx) {
  const int ragged = ragged_rank(ctx);
  const Shape& wanted = ctx.input(0);
  const Shape& values = ctx.input(1);
  if (wanted.has_rank() && wanted.rank() > 1)
    ctx.fail("shape must be a list of sizes, or -1: " + ctx.describe(0));
  if (values.has_rank() && values.rank() == 0) ctx.fail("values must have an axis: " + ctx.describe(1));
  if (!values.has_rank()) return ctx.output(0, Shape::unknown_rank());
  const int rank = ragged + values.rank();
  const Shape& fallback = ctx.input(2);
  if (fallback.has_rank() && fallback.rank() > values.rank() - 1)
    ctx.fail("default_value must be a value or a part of one: " + ctx.describe(2) + ", " + ctx.describe(1));
  for (int d = 1; fallback.has_rank() && d <= fallback.rank(); ++d)
    if (fallback[-d] > 1 && values[-d] >= 0 && fallback[-d] != values[-d])
      ctx.fail("default_value must broadcast to a value: " + ctx.describe(2) + ", " + ctx.describe(1));
  Shape out = Shape::unknown_of_rank(rank);
  for (int d = 1; d < values.rank(); ++d) out.set(ragged + d, values[d]);
  IntVector sizes;
  if (wanted.has_rank() && wanted.rank() == 1 && wanted[0] >= 0 && wanted[0] != rank)
    ctx.fail("shape must have " + std::to_string(rank) + " sizes: got " + std::to_string(wanted[0]));
  if (!ctx.ints(0, &sizes)) return ctx.output(0, std::move(out));
  if (wanted.rank() == 0) {
    if (sizes[0] != -1) ctx.fail("a shape that is a number must be -1: got " + std::to_string(sizes[0]));
    return ctx.output(0, std::move(out));
  }
  for (int d = 0; d < rank; ++d) {
    const int64_t size = sizes[size_t(d)];
    if (size < -1) ctx.fail("sizes must be at least -1: got " + std::to_string(size));
    if (size < 0) continue;
    if (d > ragged && out[d] >= 0 && out[d] != size)
      ctx.fail("shape must have the sizes of a value behind the rows': got " + std::to_string(size) +
               " for axis " + std::to_string(d) + ", " + ctx.describe(1));
    out.set(d, size);
  }
  ctx.output(0, std::move(out));
}

// Row counts of starts, limits and deltas: those that are vectors agree.
void range_shape(ShapeContext& ctx) {
  int64_t rows = Shape::kUnknown;
  bool all_scalars = true;
  for (int i = 0; i < 3; ++i) {
    const Shape& s = ctx.input(i);
    if (!s.has_rank()) {
      all_scalars = false;
      continue;
    }
    if (s.rank() > 1) ctx.fail("must be a number or a list of numbers: " + ctx.describe(i));
    if (s.rank() == 0) continue;
    all_scalars = false;
    if (s[0] < 0) continue;
    if (rows >= 0 && rows != s[0])
      ctx.fail("lists must have one length: got " + std::to_string(rows) + " and " + std::to_string(s[0]));
    rows = s[0];
  }
  if (all_scalars) rows = 1;
  ctx.output(0, Shape{rows < 0 ? Shape::kUnknown : rows + 1});
  ctx.output(1, Shape{Shape::kUnknown});
}

void gather_shape(ShapeContext& ctx) {
  const int params = ctx.num_inputs() - 2;
  const Shape& values = ctx.input(params);
  const Shape& indices = ctx.input(params + 1);
  for (int i = 0; i < params; ++i) ctx.require_rank(i, 1);
  if (values.has_rank() && values.rank() == 0)
    ctx.fail("params_dense_values must have an axis: " + ctx.describe(params));
  const auto rank = ctx.attr<int64_t>("OUTPUT_RAGGED_RANK");
  if (indices.has_rank() && indices.rank() == 0) {
    if (rank != params - 1)
      ctx.fail("OUTPUT_RAGGED_RANK must be " + std::to_string(params - 1) + ": got " + std::to_string(rank));
  } else if (indices.has_rank() && rank != params + indices.rank() - 1) {
    ctx.fail("OUTPUT_RAGGED_RANK must be " + std::to_string(params + indices.rank() - 1) + ": got " +
             std::to_string(rank));
  }
  for (int i = 0; i + 1 < ctx.num_outputs(); ++i) ctx.output(i, Shape{Shape::kUnknown});
  Shape out = values;
  if (out.has_rank()) out.set(0, Shape::kUnknown);
  ctx.output(ctx.num_outputs() - 1, std::move(out));
}

// [rows, size] or [size]: `rows` is what stands in front.
void bins_shape(ShapeContext& ctx, int size_input, std::optional<int64_t> rows) {
  ctx.require_scalar(size_input);
  IntVector size;
  const bool known = ctx.ints(size_input, &size);
  if (known && size[0] < 0) ctx.fail("size must not be negative: got " + std::to_string(size[0]));
  Shape out;
  if (rows) out.append(*rows);
  out.append(known ? size[0] : Shape::kUnknown);
  ctx.output(0, std::move(out));
}

// One weight per value, or none.
void check_weights(ShapeContext& ctx, int values, int weights) {
  const Shape& v = ctx.input(values);
  const Shape& w = ctx.input(weights);
  const bool none = w.has_rank() && w.num_elements() == 0;
  const bool open = !v.has_rank() || !w.has_rank() || !v.fully_known() || !w.fully_known();
  if (!open && !none && !v.compatible_with(w))
    ctx.fail("weights must be empty or have the shape of the values: " + ctx.describe(weights) + ", " +
             ctx.describe(values));
}

void bincount_shape(ShapeContext& ctx) {
  check_weights(ctx, 0, 2);
  bins_shape(ctx, 1, std::nullopt);
}

void dense_bincount_shape(ShapeContext& ctx) {
  const Shape& in = ctx.input(0);
  if (in.has_rank() && in.rank() > 2) ctx.fail("input must have at most two axes: " + ctx.describe(0));
  check_weights(ctx, 0, 2);
  if (!in.has_rank()) {
    bins_shape(ctx, 1, std::nullopt);
    return ctx.output(0, Shape::unknown_rank());
  }
  bins_shape(ctx, 1, in.rank() == 2 ? std::optional(in[0]) : std::nullopt);
}

void ragged_bincount_shape(ShapeContext& ctx) {
  ctx.require_rank(0, 1);
  const Shape& splits = ctx.input(0);
  if (splits.has_rank() && splits[0] == 0) ctx.fail("splits must not be empty");
  check_weights(ctx, 1, 3);
  bins_shape(ctx, 2, splits.has_rank() && splits[0] > 0 ? splits[0] - 1 : Shape::kUnknown);
}

void to_dense_shape(ShapeContext& ctx) {
  ctx.require_rank(1, 1);
  ctx.require_scalar(3);
  const Shape& at = ctx.input(0);
  const Shape& values = ctx.input(2);
  if (at.has_rank() && at.rank() > 2)
    ctx.fail("sparse_indices must have at most two axes: " + ctx.describe(0));
  if (values.has_rank() && values.rank() > 1)
    ctx.fail("sparse_values must have at most one axis: " + ctx.describe(2));
  const int64_t count = !at.has_rank() ? Shape::kUnknown : at.rank() == 0 ? 1 : at[0];
  if (count >= 0 && values.has_rank() && values.rank() == 1 && values[0] >= 0 && values[0] != count)
    ctx.fail("sparse_values must be one, or one per index: " + ctx.describe(2) + ", " + ctx.describe(0));
  const int64_t rank = ctx.input(1).has_rank() ? ctx.input(1)[0] : Shape::kUnknown;
  const int64_t width = !at.has_rank() ? Shape::kUnknown : at.rank() == 2 ? at[1] : 1;
  if (rank >= 0 && width >= 0 && rank != width)
    ctx.fail("an index must have a number per axis of output_shape: " + ctx.describe(0) + ", " +
             ctx.describe(1));
  IntVector dims;
  if (!ctx.ints(1, &dims))
    return ctx.output(0, rank >= 0 ? Shape::unknown_of_rank(int(rank)) : Shape::unknown_rank());
  Shape out;
  for (const int64_t d : dims) {
    if (d < 0) ctx.fail("output_shape must not be negative: got " + std::to_string(d));
    out.append(d);
  }
  ctx.output(0, std::move(out));
}

void bucketize_shape(ShapeContext& ctx) {
  double last = -std::numeric_limits<double>::infinity();
  for (const double b : ctx.attr<std::vector<double>>("boundaries")) {
    if (!(b >= last)) ctx.fail("boundaries must rise");
    last = b;
  }
  same_shape_as_input(ctx);
}

}  // namespace

void register_ragged_ops(OpTable& t) {
  t.add(
       "RaggedTensorToTensor(shape: Tshape, values: T, default_value: T, row_partition_tensors: "
       "num_row_partition_tensors * Tindex) -> (result: T); T: type; Tindex: {int64, int32}; Tshape: {int64, "
       "int32}; num_row_partition_tensors: int >= 1; row_partition_types: list(string)")
      .shape(to_tensor_shape)
      .host({"shape"})
      .tag("RaggedTensor.to_tensor");
  t.add(
       "RaggedRange(starts: T, limits: T, deltas: T) -> (rt_nested_splits: Tsplits, rt_dense_values: T); "
       "T: {bfloat16, float, double, int32, int64} = int32; Tsplits: {int32, int64} = int64")
      .shape(range_shape)
      .tag("ragged.range");
  t.add(
       "RaggedGather(params_nested_splits: PARAMS_RAGGED_RANK * Tsplits, params_dense_values: Tvalues, "
       "indices: Tindices) -> (output_nested_splits: OUTPUT_RAGGED_RANK * Tsplits, output_dense_values: "
       "Tvalues); Tvalues: type; Tindices: {int32, int64}; Tsplits: {int32, int64} = int64; "
       "PARAMS_RAGGED_RANK: int >= 1; OUTPUT_RAGGED_RANK: int >= 0")
      .shape(gather_shape)
      .tag("ragged.gather");
  const std::string counted =
      "; Tidx: {int32, int64}; T: {int32, int64, float, double}; binary_output: bool = false";
  t.add("RaggedBincount(splits: int64, values: Tidx, size: Tidx, weights: T) -> (output: T)" + counted)
      .shape(ragged_bincount_shape)
      .host({"size"})
      .tag("bincount");
  t.add("DenseBincount(input: Tidx, size: Tidx, weights: T) -> (output: T)" + counted)
      .shape(dense_bincount_shape)
      .host({"size"})
      .tag("bincount");
  t.add("Bincount(arr: int32, size: int32, weights: T) -> (bins: T); T: {int32, int64, float, double}")
      .shape(bincount_shape)
      .host({"size"})
      .tag("bincount");
  t.add("Bucketize(input: T) -> (output: int32); T: {int32, int64, float, double}; boundaries: list(float)")
      .shape(bucketize_shape)
      .elementwise()
      .tag("bucketize");
  t.add(
       "SparseToDense(sparse_indices: Tindices, output_shape: Tindices, sparse_values: T, default_value: T) "
       "-> (dense: T); validate_indices: bool = true; T: type; Tindices: {int32, int64}")
      .shape(to_dense_shape)
      .host({"output_shape"})
      .tag("sparse.to_dense");
}

}  // namespace rw
