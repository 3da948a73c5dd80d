// Reading and writing by index: rows and shape rules. Segments, searches and selections stand in files of
// their own.
#include "rewind/op/table.h"

namespace rw {

void register_segment_ops(OpTable& t);
void register_selection_ops(OpTable& t);
void register_ragged_ops(OpTable& t);

namespace {

// params[:axis] + indices[batch_dims:] + params[axis + 1:]
Shape gathered(ShapeContext& ctx, int64_t batch_dims, bool axis_known, int64_t axis) {
  const Shape& params = ctx.input(0);
  const Shape& indices = ctx.input(1);
  if (params.has_rank() && params.rank() == 0)
    ctx.fail("params must have at least one axis: " + ctx.describe(0));
  if (indices.has_rank()) {
    if (batch_dims < -indices.rank() || batch_dims > indices.rank())
      ctx.fail("batch_dims must be in [-" + std::to_string(indices.rank()) + ", " +
               std::to_string(indices.rank()) + "]: got " + std::to_string(batch_dims) + ", " +
               ctx.describe(1));
    if (batch_dims < 0) batch_dims += indices.rank();
  }
  if (!params.has_rank() || !indices.has_rank()) return Shape::unknown_rank();
  if (batch_dims >= params.rank())
    ctx.fail("batch_dims must be less than the rank of params: got " + std::to_string(batch_dims) + ", " +
             ctx.describe(0));
  for (int d = 0; d < int(batch_dims); ++d)
    if (params[d] >= 0 && indices[d] >= 0 && params[d] != indices[d])
      ctx.fail("the first batch_dims axes must match: " + ctx.describe(0) + ", " + ctx.describe(1));
  if (!axis_known) return Shape::unknown_of_rank(params.rank() + indices.rank() - 1 - int(batch_dims));
  const int at = ctx.axis(axis, params.rank());
  if (at < batch_dims)
    ctx.fail("axis must not be less than batch_dims: got " + std::to_string(at) + " and " +
             std::to_string(batch_dims));
  Shape out;
  for (int d = 0; d < at; ++d) out.append(params[d]);
  for (int d = int(batch_dims); d < indices.rank(); ++d) out.append(indices[d]);
  for (int d = at + 1; d < params.rank(); ++d) out.append(params[d]);
  return out;
}

void gather_v2_shape(ShapeContext& ctx) {
  IntVector axis;
  ctx.require_scalar(2);
  const bool known = ctx.ints(2, &axis);
  ctx.output(0, gathered(ctx, ctx.attr<int64_t>("batch_dims"), known, known ? axis[0] : 0));
}

void gather_shape(ShapeContext& ctx) { ctx.output(0, gathered(ctx, 0, true, 0)); }

// indices[:-1] + params[indices[-1]:]
void gather_nd_shape(ShapeContext& ctx) {
  const Shape& params = ctx.input(0);
  const Shape& indices = ctx.input(1);
  if (indices.has_rank() && indices.rank() == 0)
    ctx.fail("indices must have at least one axis: " + ctx.describe(1));
  if (!params.has_rank() || !indices.has_rank() || indices.back() < 0)
    return ctx.output(0, Shape::unknown_rank());
  if (indices.back() > params.rank())
    ctx.fail("the last axis of indices must not be longer than the rank of params: " + ctx.describe(0) +
             ", " + ctx.describe(1));
  Shape out;
  for (int d = 0; d + 1 < indices.rank(); ++d) out.append(indices[d]);
  for (int d = int(indices.back()); d < params.rank(); ++d) out.append(params[d]);
  ctx.output(0, std::move(out));
}

// updates must be indices[:-1] + target[indices[-1]:].
void check_updates(ShapeContext& ctx, int indices_at, int updates_at, const Shape& target) {
  const Shape& indices = ctx.input(indices_at);
  const Shape& updates = ctx.input(updates_at);
  if (indices.has_rank() && indices.rank() == 0)
    ctx.fail("indices must have at least one axis: " + ctx.describe(indices_at));
  if (!indices.has_rank() || !updates.has_rank() || !target.has_rank()) return;
  const int64_t depth = indices.back();
  if (depth < 0) return;
  if (depth > target.rank())
    ctx.fail("the last axis of indices must not be longer than the rank that it indexes: " +
             ctx.describe(indices_at) + ", shape " + target.to_string());
  Shape want;
  for (int d = 0; d + 1 < indices.rank(); ++d) want.append(indices[d]);
  for (int d = int(depth); d < target.rank(); ++d) want.append(target[d]);
  if (!updates.compatible_with(want))
    ctx.fail("updates must have shape " + want.to_string() +
             " (indices without their last axis, then the slice): " + ctx.describe(updates_at));
}

// Either nothing is written, or there is something of everything.
void check_empty(ShapeContext& ctx, int indices_at, int updates_at, const Shape& target) {
  int64_t size = 0;
  const int64_t indices = ctx.input(indices_at).num_elements();
  const int64_t updates = ctx.input(updates_at).num_elements();
  if (!target.fully_known() || indices < 0 || updates < 0 || (indices == 0 && updates == 0)) return;
  if (indices == 0 || updates == 0 || (target.checked_num_elements(&size) && size == 0))
    ctx.fail("indices and updates must both be empty where one is, or where the output is, shape " +
             target.to_string() + ": " + ctx.describe(indices_at) + ", " + ctx.describe(updates_at));
}

void scatter_nd_shape(ShapeContext& ctx) {
  ctx.require_rank(2, 1);
  IntVector dims;
  if (!ctx.ints(2, &dims)) {
    const Shape& s = ctx.input(2);
    return ctx.output(0,
                      s.has_rank() && s[0] >= 0 ? Shape::unknown_of_rank(int(s[0])) : Shape::unknown_rank());
  }
  for (const int64_t d : dims)
    if (d < 0) ctx.fail("shape must not hold negative sizes: got " + std::to_string(d));
  if (dims.size() > size_t(Shape::kMaxRank))
    ctx.fail("shape must have at most " + std::to_string(Shape::kMaxRank) + " axes: got " +
             std::to_string(dims.size()));
  const Shape shape(std::span<const int64_t>(dims.data(), dims.size()));
  check_updates(ctx, 0, 1, shape);
  check_empty(ctx, 0, 1, shape);
  ctx.output(0, shape);
}

void tensor_scatter_shape(ShapeContext& ctx) {
  if (ctx.input(0).has_rank() && ctx.input(0).rank() == 0)
    ctx.fail("tensor must have at least one axis: " + ctx.describe(0));
  check_updates(ctx, 1, 2, ctx.input(0));
  check_empty(ctx, 1, 2, ctx.input(0));
  ctx.output(0, ctx.input(0));
}

}  // namespace

void register_gather_ops(OpTable& t) {
  t.add(
       "Gather(params: Tparams, indices: Tindices) -> (output: Tparams); validate_indices: bool = true; "
       "Tparams: type; "
       "Tindices: {int32, int64}")
      .shape(gather_shape)
      .tag("gather");
  t.add(
       "GatherV2(params: Tparams, indices: Tindices, axis: Taxis) -> (output: Tparams); batch_dims: int = 0; "
       "Tparams: type; Tindices: {int16, int32, int64}; Taxis: {int32, int64}")
      .shape(gather_v2_shape)
      .host({"axis"})
      .tag("gather");
  t.add(
       "GatherNd(params: Tparams, indices: Tindices) -> (output: Tparams); Tparams: type; "
       "Tindices: {int16, int32, int64}; bad_indices_policy: string = ''")
      .shape(gather_nd_shape)
      .tag("gather_nd");
  t.add(
       "ScatterNd(indices: Tindices, updates: T, shape: Tindices) -> (output: T); T: type; "
       "Tindices: {int16, int32, int64}; bad_indices_policy: string = ''")
      .shape(scatter_nd_shape)
      .host({"shape"})
      .tag("scatter_nd");
  t.add(
       "TensorScatterUpdate(tensor: T, indices: Tindices, updates: T) -> (output: T); T: type; "
       "Tindices: {int16, int32, int64, uint16}; bad_indices_policy: string = ''")
      .shape(tensor_scatter_shape)
      .tag("tensor_scatter_nd_update");
  const char* const kinds[][2] = {{"Add", "add"}, {"Sub", "sub"}, {"Max", "max"}, {"Min", "min"}};
  for (const auto& [kind, name] : kinds) {
    t.add(std::string("TensorScatter") + kind +
          "(tensor: T, indices: Tindices, updates: T) -> (output: T); T: type; Tindices: {int32, int64}; "
          "bad_indices_policy: string = ''")
        .shape(tensor_scatter_shape)
        .tag(std::string("tensor_scatter_nd_") + name);
  }
  register_segment_ops(t);
  register_ragged_ops(t);
  register_selection_ops(t);
}

}  // namespace rw
