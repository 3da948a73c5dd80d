// Joins and their opposites: concat, stack, split, unstack.
#include "rewind/op/shape_rows.h"

namespace rw {
namespace {

// The values are inputs [first, first + count), the axis is input `axis_input`.
void concat_rule(ShapeContext& ctx, int first, int count, int axis_input) {
  Shape known = Shape::unknown_rank();  // any one with a rank
  for (int i = first; i < first + count; ++i)
    if (ctx.input(i).has_rank()) known = ctx.input(i);
  if (!known.has_rank()) return ctx.output(0, known);
  const int rank = known.rank();
  for (int i = first; i < first + count; ++i) {
    if (ctx.input(i).has_rank() && ctx.input(i).rank() != rank)
      ctx.fail("tensors must have one rank: one is " + known.to_string() + ", " + ctx.describe(i));
  }
  IntVector axes;
  ctx.require_scalar(axis_input);
  if (!ctx.ints(axis_input, &axes)) return ctx.output(0, Shape::unknown_of_rank(rank));
  if (rank == 0) ctx.fail("scalars have no axis to join along; rw::stack makes a new one");
  const int axis = ctx.axis(axes[0], rank);
  Shape out = Shape::unknown_of_rank(rank);
  out.set(axis, 0);
  for (int i = first; i < first + count; ++i) {
    const Shape& s = ctx.input(i);
    for (int k = 0; k < rank; ++k) {
      const int64_t d = s.has_rank() ? s[k] : -1;
      if (k == axis) {
        out.set(k, d < 0 || out[k] < 0 ? -1 : checked_sum(ctx, out[k], d));
      } else if (d >= 0) {
        if (out[k] >= 0 && out[k] != d) {
          ctx.fail("sizes beside axis " + std::to_string(axis) + " must match: input " +
                   std::to_string(i - first) + " is " + s.to_string() + ", axis " + std::to_string(k) +
                   " of an earlier one has size " + std::to_string(out[k]));
        }
        out.set(k, d);
      }
    }
  }
  ctx.output(0, std::move(out));
}

void concat_v2_rule(ShapeContext& ctx) { concat_rule(ctx, 0, ctx.num_inputs() - 1, ctx.num_inputs() - 1); }
void concat_v1_rule(ShapeContext& ctx) { concat_rule(ctx, 1, ctx.num_inputs() - 1, 0); }

void concat_offset_rule(ShapeContext& ctx) {
  ctx.require_scalar(0);
  for (int i = 1; i < ctx.num_inputs(); ++i) {
    ctx.require_rank(i, 1);
    ctx.output(i - 1, ctx.input(i));
  }
}

void pack_rule(ShapeContext& ctx) {
  Shape out = ctx.input(0);
  for (int i = 1; i < ctx.num_inputs(); ++i) {
    const Shape& s = ctx.input(i);
    if (!out.compatible_with(s))
      ctx.fail("shapes must be equal: input 0 is " + ctx.input(0).to_string() + ", input " +
               std::to_string(i) + " is " + s.to_string());
    if (!out.has_rank()) out = s;
    for (int k = 0; k < out.rank() && s.has_rank(); ++k)
      if (out[k] < 0) out.set(k, s[k]);
  }
  if (out.has_rank()) out.insert(ctx.axis(ctx.attr<int64_t>("axis"), out.rank() + 1), ctx.num_inputs());
  ctx.output(0, std::move(out));
}

void unpack_rule(ShapeContext& ctx) {
  Shape out = ctx.input(0);
  if (out.has_rank()) {
    if (out.rank() == 0) ctx.fail("a scalar has no axis to take apart");
    const int axis = ctx.axis(ctx.attr<int64_t>("axis"), out.rank());
    if (out[axis] >= 0 && out[axis] != ctx.num_outputs()) {
      ctx.fail("num must be the size of axis " + std::to_string(axis) + ": got " +
               std::to_string(ctx.num_outputs()) + ", " + ctx.describe(0));
    }
    out.erase(axis);
  }
  for (int i = 0; i < ctx.num_outputs(); ++i) ctx.output(i, out);
}

void split_rule(ShapeContext& ctx) {
  ctx.require_scalar(0);
  IntVector axes;
  const Shape& in = ctx.input(1);
  Shape out = same_rank_unknown(in);
  if (in.has_rank() && ctx.ints(0, &axes)) {
    if (in.rank() == 0) ctx.fail("a scalar has no axis to split");
    const int axis = ctx.axis(axes[0], in.rank());
    out = in;
    if (in[axis] >= 0) {
      if (in[axis] % ctx.num_outputs() != 0) {
        ctx.fail("axis " + std::to_string(axis) + " must divide into " + std::to_string(ctx.num_outputs()) +
                 " equal parts: " + ctx.describe(1));
      }
      out.set(axis, in[axis] / ctx.num_outputs());
    }
  }
  for (int i = 0; i < ctx.num_outputs(); ++i) ctx.output(i, out);
}

void split_v_rule(ShapeContext& ctx) {
  ctx.require_rank(1, 1);
  ctx.require_scalar(2);
  const Shape& in = ctx.input(0);
  const int n = ctx.num_outputs();
  if (ctx.input(1).has_rank() && ctx.input(1)[0] >= 0 && ctx.input(1)[0] != n)
    ctx.fail("size_splits must have " + std::to_string(n) + " numbers: " + ctx.describe(1));
  IntVector sizes, axes;
  if (!in.has_rank() || !ctx.ints(2, &axes)) {
    for (int i = 0; i < n; ++i) ctx.output(i, same_rank_unknown(in));
    return;
  }
  if (in.rank() == 0) ctx.fail("a scalar has no axis to split");
  const int axis = ctx.axis(axes[0], in.rank());
  const bool known = ctx.ints(1, &sizes);
  if (known) {
    int64_t sum = 0;
    int open = -1;
    for (int i = 0; i < n; ++i) {
      const int64_t s = sizes[size_t(i)];
      if (s == -1) {
        if (open >= 0) ctx.fail("only one size may be -1: got " + list_text(sizes));
        open = i;
      } else if (s < 0) {
        ctx.fail("sizes must be -1 or not negative: got " + list_text(sizes));
      } else {
        sum = checked_sum(ctx, sum, s);
      }
    }
    if (in[axis] >= 0) {
      if (open >= 0 ? sum > in[axis] : sum != in[axis])
        ctx.fail("sizes must add up to axis " + std::to_string(axis) + ": " + ctx.describe(0) +
                 ", sizes are " + list_text(sizes));
      if (open >= 0) sizes[size_t(open)] = in[axis] - sum;
    }
  }
  for (int i = 0; i < n; ++i) {
    Shape out = in;
    out.set(axis, known ? sizes[size_t(i)] : -1);
    ctx.output(i, std::move(out));
  }
}

}  // namespace

void register_join_rows(OpTable& t) {
  t.add(
       "ConcatV2(values: N * T, axis: Tidx) -> (output: T); N: int >= 2; T: type; Tidx: {int32, int64} = "
       "int32")
      .shape(concat_v2_rule)
      .host({"axis"})
      .tag("concat");
  t.add("Concat(concat_dim: int32, values: N * T) -> (output: T); N: int >= 2; T: type")
      .shape(concat_v1_rule)
      .host({"concat_dim"})
      .tag("concat");
  t.add(
       "ConcatOffset(concat_dim: int32, shape: N * shape_type) -> (offset: N * shape_type); N: int >= 2; "
       "shape_type: "
       "{int32, int64} = int32")
      .shape(concat_offset_rule)
      .host({"concat_dim", "shape", "offset"});
  t.add("Pack(values: N * T) -> (output: T); N: int >= 1; T: type; axis: int = 0")
      .shape(pack_rule)
      .tag("stack");
  t.add("Unpack(value: T) -> (output: num * T); num: int >= 0; T: type; axis: int = 0")
      .shape(unpack_rule)
      .shares()
      .tag("unstack");
  t.add("Split(split_dim: int32, value: T) -> (output: num_split * T); num_split: int >= 1; T: type")
      .shape(split_rule)
      .host({"split_dim"})
      .shares()
      .tag("split");
  t.add(
       "SplitV(value: T, size_splits: Tlen, split_dim: int32) -> (output: num_split * T); num_split: int >= "
       "1; T: "
       "type; Tlen: {int8, int32, int64} = int64")
      .shape(split_v_rule)
      .host({"size_splits", "split_dim"})
      .shares()
      .tag("split");
}

}  // namespace rw
