// Slices: boxes of a tensor, with steps, and their gradients and updates.
#include "rewind/op/shape_rows.h"
#include "rewind/op/strided_slice.h"

namespace rw {
namespace {

void slice_rule(ShapeContext& ctx) {
  ctx.require_rank(1, 1);
  ctx.require_rank(2, 1);
  const Shape& in = ctx.input(0);
  IntVector begin, size;
  const bool known_begin = ctx.ints(1, &begin), known_size = ctx.ints(2, &size);
  if (!in.has_rank()) return ctx.output(0, Shape::unknown_rank());
  for (int i : {1, 2}) {
    if (ctx.input(i).has_rank() && ctx.input(i)[0] >= 0 && ctx.input(i)[0] != in.rank())
      ctx.fail("begin and size must have one number per axis: " + ctx.describe(0) + ", " + ctx.describe(i));
  }
  Shape out = Shape::unknown_of_rank(in.rank());
  for (int k = 0; k < in.rank(); ++k) {
    const int64_t b = known_begin ? begin[size_t(k)] : 0;
    if (known_begin && (b < 0 || (in[k] >= 0 && b > in[k]))) {
      ctx.fail("begin must lie within the tensor: begin[" + std::to_string(k) + "] is " + std::to_string(b) +
               ", " + ctx.describe(0));
    }
    if (!known_size) continue;
    const int64_t s = size[size_t(k)];
    if (s == -1) {
      if (known_begin && in[k] >= 0) out.set(k, in[k] - b);
      continue;
    }
    if (s < 0 || (known_begin && in[k] >= 0 && s > in[k] - b)) {
      ctx.fail("begin + size must lie within the tensor: axis " + std::to_string(k) + " has begin " +
               std::to_string(b) + ", size " + std::to_string(s) + ", " + ctx.describe(0));
    }
    out.set(k, s);
  }
  ctx.output(0, std::move(out));
}

// Inputs `first`, first + 1, first + 2 are begin, end and strides. False while one is not known.
bool read_spec(ShapeContext& ctx, int first, IntVector* begin, IntVector* end, IntVector* strides) {
  for (int i = first; i < first + 3; ++i) ctx.require_rank(i, 1);
  const bool a = ctx.ints(first, begin), b = ctx.ints(first + 1, end), c = ctx.ints(first + 2, strides);
  return a && b && c;
}

void strided_slice_rule(ShapeContext& ctx) {
  IntVector begin, end, strides;
  if (!read_spec(ctx, 1, &begin, &end, &strides) || !ctx.input(0).has_rank()) {
    const SliceMasks masks = slice_masks(ctx.attrs());
    const Shape &in = ctx.input(0), &spec = ctx.input(1);
    // When the number of indices is known, the masks say the rank, and which axes are as they were.
    if (!in.has_rank() || !spec.has_rank() || spec[0] < 0) return ctx.output(0, Shape::unknown_rank());
    const IntVector zeros(size_t(spec[0]), 0), ones(size_t(spec[0]), 1);
    const SlicePlan plan =
        plan_slice(ctx.op().tag, Shape::unknown_of_rank(in.rank()), zeros, ones, ones, masks);
    Shape out = Shape::unknown_of_rank(plan.shape.rank());
    for (int k = 0; k < in.rank(); ++k)
      if (plan.untouched >> k & 1) out.set(int(plan.result_axis[size_t(k)]), in[k]);
    return ctx.output(0, std::move(out));
  }
  ctx.output(0, plan_slice(ctx.op().tag, ctx.input(0), begin, end, strides, slice_masks(ctx.attrs())).shape);
}

void strided_slice_grad_rule(ShapeContext& ctx) {
  ctx.require_rank(0, 1);
  IntVector dims, begin, end, strides;
  const bool known = read_spec(ctx, 1, &begin, &end, &strides);
  if (!ctx.ints(0, &dims)) {
    const Shape& s = ctx.input(0);
    return ctx.output(0,
                      s.has_rank() && s[0] >= 0 ? Shape::unknown_of_rank(int(s[0])) : Shape::unknown_rank());
  }
  for (const int64_t d : dims)
    if (d < 0) ctx.fail("sizes must not be negative: got shape " + list_text(dims));
  Shape out = shape_of(dims);
  if (known) {
    const auto plan = plan_slice(ctx.op().tag, out, begin, end, strides, slice_masks(ctx.attrs()));
    if (!ctx.input(4).compatible_with(plan.shape))
      ctx.fail("dy must have the slice's shape " + plan.shape.to_string() + ": " + ctx.describe(4));
  }
  ctx.output(0, std::move(out));
}

void strided_update_rule(ShapeContext& ctx) {
  IntVector begin, end, strides;
  const Shape& in = ctx.input(0);
  if (read_spec(ctx, 1, &begin, &end, &strides) && in.has_rank()) {
    const auto plan = plan_slice(ctx.op().tag, in, begin, end, strides, slice_masks(ctx.attrs()));
    if (!broadcasts_into(ctx.input(4), plan.shape))
      ctx.fail("the value must broadcast to the slice's shape " + plan.shape.to_string() + ": " +
               ctx.describe(4));
  }
  ctx.output(0, in);
}

// The variable's shape is the runtime's to know; the kernel checks.
void strided_assign_rule(ShapeContext& ctx) {
  for (int i = 1; i < 4; ++i) ctx.require_rank(i, 1);
}

constexpr const char* kMasks =
    "begin_mask: int = 0; end_mask: int = 0; ellipsis_mask: int = 0; new_axis_mask: int = 0; "
    "shrink_axis_mask: int = 0";

}  // namespace

void register_slice_rows(OpTable& t) {
  const std::string masks = kMasks;
  t.add("Slice(input: T, begin: Index, size: Index) -> (output: T); T: type; Index: {int32, int64}")
      .shape(slice_rule)
      .host({"begin", "size"})
      .shares()
      .tag("slice");
  t.add(
       "StridedSlice(input: T, begin: Index, end: Index, strides: Index) -> (output: T); T: type; Index: "
       "{int16, "
       "int32, int64}; " +
       masks)
      .shape(strided_slice_rule)
      .host({"begin", "end", "strides"})
      .shares()
      .tag("strided_slice");
  t.add(
       "StridedSliceGrad(shape: Index, begin: Index, end: Index, strides: Index, dy: T) -> (output: T); T: "
       "type; "
       "Index: {int32, int64}; " +
       masks)
      .shape(strided_slice_grad_rule)
      .host({"shape", "begin", "end", "strides"});
  t.add(
       "TensorStridedSliceUpdate(input: T, begin: Index, end: Index, strides: Index, value: T) -> (output: "
       "T); T: "
       "type; Index: {int32, int64}; " +
       masks)
      .shape(strided_update_rule)
      .host({"begin", "end", "strides"})
      .tag("tensor_strided_slice_update");
  t.add(
       "ResourceStridedSliceAssign(ref: resource, begin: Index, end: Index, strides: Index, value: T) -> (); "
       "T: "
       "type; Index: {int32, int64}; " +
       masks + "; stateful")
      .shape(strided_assign_rule)
      .host({"begin", "end", "strides"})
      .tag("assign");
}

}  // namespace rw
