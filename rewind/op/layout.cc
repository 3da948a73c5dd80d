// Layout ops: the same elements under another shape, in another order, repeated; and questions about shapes.
#include "rewind/op/shape_rows.h"

namespace rw {
namespace {

// A shape given as a vector of sizes: as far as it is known.
Shape open_shape(const ShapeContext& ctx, int i) {
  const Shape& s = ctx.input(i);
  if (s.has_rank() && s.rank() == 0) return Shape::unknown_of_rank(1);
  return s.has_rank() && s.rank() == 1 && s[0] >= 0 ? Shape::unknown_of_rank(int(s[0]))
                                                    : Shape::unknown_rank();
}

void reshape_rule(ShapeContext& ctx) {
  if (ctx.input(1).has_rank() && ctx.input(1).rank() > 1)
    ctx.require_rank(1, 1);  // one number is a list of one
  IntVector dims;
  if (!ctx.ints(1, &dims)) return ctx.output(0, open_shape(ctx, 1));
  if (dims.size() > size_t(Shape::kMaxRank))
    ctx.fail("a tensor has at most " + std::to_string(Shape::kMaxRank) + " axes: got " +
             std::to_string(dims.size()));
  int unknown = -1;
  int64_t product = 1;  // of the sizes that are not 0
  bool zero = false;
  for (size_t k = 0; k < dims.size(); ++k) {
    if (dims[k] == -1) {
      if (unknown >= 0) ctx.fail("only one size may be -1: got shape " + list_text(dims));
      unknown = int(k);
    } else if (dims[k] < 0) {
      ctx.fail("sizes must be -1 or not negative: got shape " + list_text(dims));
    } else if (dims[k] == 0) {
      zero = true;
    } else {
      product = checked_product(ctx, product, dims[k]);
    }
  }
  const Shape& in = ctx.input(0);
  const int64_t count = in.has_rank() ? in.num_elements() : -1;
  if (count < 0) return ctx.output(0, shape_of(dims));
  if (unknown >= 0) {
    // Beside a 0, -1 is what the input's other sizes leave, as in TensorFlow.
    int64_t rest = 1;
    for (const int64_t d : in)
      if (d > 0 || !zero) rest *= d;
    dims[size_t(unknown)] = rest / product;
    if (!(zero && count == 0) && rest % product != 0) {
      dims[size_t(unknown)] = -1;
      ctx.fail("sizes must divide the " + std::to_string(count) + " elements: " + ctx.describe(0) +
               ", shape is " + list_text(dims));
    }
  }
  const Shape out = shape_of(dims);
  int64_t elements = 0;
  if (!out.checked_num_elements(&elements) || elements != count) {
    ctx.fail("the number of elements must stay: " + ctx.describe(0) + " with " + std::to_string(count) +
             " elements, the shape is " + list_text(dims));
  }
  ctx.output(0, shape_of(dims));
}

void expand_dims_rule(ShapeContext& ctx) {
  IntVector axis;
  const Shape& in = ctx.input(0);
  if (!ctx.ints(1, &axis))
    return ctx.output(0, in.has_rank() ? Shape::unknown_of_rank(in.rank() + 1) : Shape::unknown_rank());
  if (axis.size() != 1) ctx.fail("axis must be one number: got " + list_text(axis));
  if (!in.has_rank()) return ctx.output(0, in);
  Shape out = in;
  out.insert(ctx.axis(axis[0], in.rank() + 1), 1);
  ctx.output(0, std::move(out));
}

void squeeze_rule(ShapeContext& ctx) {
  const Shape& in = ctx.input(0);
  const auto axes = ctx.attr<std::vector<int64_t>>("squeeze_dims");
  if (!in.has_rank()) return ctx.output(0, in);
  SmallVector<bool, 8> drop(size_t(in.rank()), false);
  for (const int64_t a : axes) drop[size_t(ctx.axis(a, in.rank()))] = true;
  Shape out;
  for (int k = 0; k < in.rank(); ++k) {
    if (axes.empty() && in[k] < 0) return ctx.output(0, Shape::unknown_rank());
    if (axes.empty() ? in[k] == 1 : drop[size_t(k)]) {
      if (in[k] > 1 || in[k] == 0)
        ctx.fail("a squeezed axis must have size 1: axis " + std::to_string(k) + " of " + ctx.describe(0));
      continue;
    }
    out.append(in[k]);
  }
  ctx.output(0, std::move(out));
}

void ensure_shape_rule(ShapeContext& ctx) {
  const Shape wanted = ctx.attr<Shape>("shape");
  const Shape& in = ctx.input(0);
  if (!in.compatible_with(wanted))
    ctx.fail("the shape must be " + wanted.to_string() + ": " + ctx.describe(0));
  if (!in.has_rank()) return ctx.output(0, wanted);
  Shape out = in;
  for (int k = 0; k < in.rank(); ++k)
    if (in[k] < 0 && wanted.has_rank()) out.set(k, wanted[k]);
  ctx.output(0, std::move(out));
}

void transpose_rule(ShapeContext& ctx) {
  const Shape& in = ctx.input(0);
  ctx.require_rank(1, 1);
  IntVector perm;
  if (!ctx.ints(1, &perm)) return ctx.output(0, same_rank_unknown(in));
  if (!in.has_rank()) return ctx.output(0, Shape::unknown_of_rank(int(perm.size())));
  if (int(perm.size()) != in.rank())
    ctx.fail("perm must name every axis: " + ctx.describe(0) + ", perm is " + list_text(perm));
  Shape out = in;
  SmallVector<bool, 8> seen(perm.size(), false);
  for (size_t k = 0; k < perm.size(); ++k) {
    const int axis = ctx.axis(perm[k], in.rank());
    if (seen[size_t(axis)]) ctx.fail("perm must name every axis once: got " + list_text(perm));
    seen[size_t(axis)] = true;
    out.set(int(k), in[axis]);
  }
  ctx.output(0, std::move(out));
}

void broadcast_to_rule(ShapeContext& ctx) {
  ctx.require_rank(1, 1);
  IntVector dims;
  if (!ctx.ints(1, &dims)) return ctx.output(0, open_shape(ctx, 1));
  const Shape& in = ctx.input(0);
  if (dims.size() > size_t(Shape::kMaxRank))
    ctx.fail("a tensor has at most " + std::to_string(Shape::kMaxRank) + " axes: got " +
             std::to_string(dims.size()));
  const auto fail = [&] {
    ctx.fail("the input must broadcast to the shape: " + ctx.describe(0) + ", shape is " + list_text(dims));
  };
  const int extra = in.has_rank() ? int(dims.size()) - in.rank() : 0;
  if (extra < 0) fail();
  for (int k = 0; k < int(dims.size()); ++k) {
    const int64_t own = in.has_rank() && k >= extra ? in[k - extra] : 1;
    if (dims[size_t(k)] < 0) fail();
    if (own >= 0 && own != 1 && own != dims[size_t(k)]) fail();
  }
  ctx.output(0, shape_of(dims));
}

void broadcast_args_rule(ShapeContext& ctx) {
  ctx.require_rank(0, 1);
  ctx.require_rank(1, 1);
  const Shape &a = ctx.input(0), &b = ctx.input(1);
  if (!a.has_rank() || !b.has_rank() || a[0] < 0 || b[0] < 0) return ctx.output(0, Shape::unknown_of_rank(1));
  ctx.output(0, Shape{std::max(a[0], b[0])});
}

void broadcast_gradient_args_rule(ShapeContext& ctx) {
  ctx.require_rank(0, 1);
  ctx.require_rank(1, 1);
  for (int i : {0, 1}) ctx.output(i, Shape::unknown_of_rank(1));
}

void shape_rule(ShapeContext& ctx) {
  for (int i = 0; i < ctx.num_outputs(); ++i) {
    const Shape& in = ctx.input(i);
    ctx.output(i, in.has_rank() ? Shape{in.rank()} : Shape::unknown_of_rank(1));
  }
}

void permutation_rule(ShapeContext& ctx) {
  ctx.require_rank(0, 1);
  same_shape_as_input(ctx);
}

}  // namespace

void register_layout_rows(OpTable& t) {
  t.add("Reshape(tensor: T, shape: Tshape) -> (output: T); T: type; Tshape: {int32, int64} = int32")
      .shape(reshape_rule)
      .host({"shape"})
      .view()
      .tag("reshape");
  t.add("ExpandDims(input: T, dim: Tdim) -> (output: T); T: type; Tdim: {int32, int64} = int32")
      .shape(expand_dims_rule)
      .host({"dim"})
      .view()
      .tag("expand_dims");
  t.add("Squeeze(input: T) -> (output: T); T: type; squeeze_dims: list(int) >= 0 = []")
      .shape(squeeze_rule)
      .view()
      .tag("squeeze");
  t.add("EnsureShape(input: T) -> (output: T); shape: shape; T: type")
      .shape(ensure_shape_rule)
      .view()
      .tag("ensure_shape");
  t.add("Transpose(x: T, perm: Tperm) -> (y: T); T: type; Tperm: {int32, int64} = int32")
      .shape(transpose_rule)
      .host({"perm"})
      .tag("transpose");
  t.add("InvertPermutation(x: T) -> (y: T); T: {int32, int64} = int32")
      .shape(permutation_rule)
      .host({"x", "y"})
      .tag("invert_permutation");
  t.add("BroadcastTo(input: T, shape: Tidx) -> (output: T); T: type; Tidx: {int32, int64} = int32")
      .shape(broadcast_to_rule)
      .host({"shape"})
      .tag("broadcast_to");
  t.add("BroadcastArgs(s0: T, s1: T) -> (r0: T); T: {int32, int64} = int32")
      .shape(broadcast_args_rule)
      .host({"s0", "s1", "r0"})
      .tag("broadcast_dynamic_shape");
  t.add("BroadcastGradientArgs(s0: T, s1: T) -> (r0: T, r1: T); T: {int32, int64} = int32")
      .shape(broadcast_gradient_args_rule)
      .host({"s0", "s1", "r0", "r1"});
  t.add("Shape(input: T) -> (output: out_type); T: type; out_type: {int32, int64} = int32")
      .shape(shape_rule)
      .host({"output"})
      .tag("shape");
  t.add(
       "ShapeN(input: N * T) -> (output: N * out_type); N: int >= 1; T: type; out_type: {int32, int64} = "
       "int32")
      .shape(shape_rule)
      .host({"output"})
      .tag("shape_n");
  t.add("Size(input: T) -> (output: out_type); T: type; out_type: {int32, int64} = int32")
      .shape(scalar_output)
      .host({"output"})
      .tag("size");
  t.add("Rank(input: T) -> (output: int32); T: type").shape(scalar_output).host({"output"}).tag("rank");
}

}  // namespace rw
