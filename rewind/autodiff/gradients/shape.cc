// Gradients of the ops that move elements: the movement back. Where elements were repeated their gradients
// add up.
#include "rewind/autodiff/grad_ops.h"
#include "rewind/autodiff/rule.h"
#include "rewind/base/error.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/op_calls.h"

namespace rw {
namespace {

void reshape_back(GradContext& g) { g.set(0, reshape_to_input(g.grad(), g, 0)); }

void transpose_grad(GradContext& g) {
  Tensor perm = g.input(1);
  // InvertPermutation takes no negative axes.
  if (value_known(perm)) {
    std::vector<int64_t> axes = known_ints(perm);
    for (int64_t& a : axes) a = a < 0 ? a + int64_t(axes.size()) : a;
    perm = constant(axes, perm.dtype());
  } else {
    perm = op2(RW_OP("FloorMod"), perm, element_count(perm).tensor(perm.dtype()));
  }
  const Tensor back = apply_one(RW_OP("InvertPermutation"), {&perm});
  g.set(0, apply_one(RW_OP("Transpose"), {&g.grad(), &back}));
}

// The gradient of a join along `axis`: one part for each of the inputs [first, first + count).
void split_back(GradContext& g, int first, int count, const Tensor& axis) {
  const Shape& whole = g.output_shape(0);
  Sizes sizes;
  Tensor along;
  if (value_known(axis) && whole.has_rank()) {
    int64_t a = known_ints(axis)[0];
    if (a < 0) a += whole.rank();
    along = constant(int32_t(a));
    for (int i = first; i < first + count; ++i) {
      const Shape& s = g.input_shape(i);
      const bool open = !s.has_rank() || s[int(a)] < 0;
      sizes.push_back(open ? element_of(input_dims(g, i), a) : Size(s[int(a)]));
    }
  } else {
    const Tensor rank = apply_one(RW_OP("Rank"), {&g.grad()});
    along = op2(RW_OP("FloorMod"), cast_ints(axis, DType::kInt32), rank);
    for (int i = first; i < first + count; ++i) sizes.push_back(element_of(input_dims(g, i), Size(along)));
  }
  const Tensor lengths = dims_tensor(sizes);
  const Tensors parts = apply(RW_OP("SplitV"), {&g.grad(), &lengths, &along}, {{"num_split", count}});
  for (int i = 0; i < count; ++i)
    if (g.wants(first + i)) g.set(first + i, parts[size_t(i)]);
}

Tensor concat_grads(GradContext& g, const Tensor& axis) {
  if (g.num_outputs() == 1) return g.grad(0);
  SmallVector<const Tensor*, 8> parts;
  for (int i = 0; i < g.num_outputs(); ++i) parts.push_back(&g.grad(i));
  parts.push_back(&axis);
  return apply_one(RW_OP("ConcatV2"), {parts.data(), parts.size()});
}

// Zeros around the part that was taken.
void slice_grad(GradContext& g) {
  const Tensor& begin = g.input(1);
  const Tensor whole = input_dims(g, 0, begin.dtype()), part = output_dims(g, 0, begin.dtype());
  const Tensor rest = apply_one(RW_OP("Sub"), {&whole, &part}),
               after = apply_one(RW_OP("Sub"), {&rest, &begin});
  const Tensor edges = apply_one(RW_OP("Pack"), {&begin, &after}, {{"axis", 1}});
  g.set(0, apply_one(RW_OP("Pad"), {&g.grad(), &edges}));
}

void strided_slice_grad(GradContext& g) {
  Tensor spec[3] = {g.input(1), g.input(2), g.input(3)};
  if (spec[0].dtype() == DType::kInt16)
    for (Tensor& t : spec) t = cast_ints(t, DType::kInt32);
  const Tensor dims = input_dims(g, 0, spec[0].dtype());
  g.set(0, apply_one(RW_OP("StridedSliceGrad"), {&dims, &spec[0], &spec[1], &spec[2], &g.grad()}, g.attrs()));
}

void strided_slice_grad_grad(GradContext& g) {
  if (g.wants(4))
    g.set(4, apply_one(RW_OP("StridedSlice"), {&g.grad(), &g.input(1), &g.input(2), &g.input(3)}, g.attrs()));
}

void strided_update_grad(GradContext& g) {
  const Tensor &begin = g.input(1), &end = g.input(2), &strides = g.input(3);
  if (g.wants(0)) {
    const Tensor zeros = zeros_like_input(g, 4);
    g.set(0, apply_one(RW_OP("TensorStridedSliceUpdate"), {&g.grad(), &begin, &end, &strides, &zeros},
                       g.attrs()));
  }
  if (!g.wants(4)) return;
  // The value was broadcast; sizes of 1 in front of it did not count.
  const Tensor part = apply_one(RW_OP("StridedSlice"), {&g.grad(), &begin, &end, &strides}, g.attrs());
  const Shape& value = g.input_shape(4);
  if (!value.fully_known() || !part.shape().fully_known()) {
    const Tensor dims = input_dims(g, 4);
    const Tensor rank = apply_one(RW_OP("Rank"), {&part});
    const Size behind = element_count(dims) - Size(rank),
               extra = Size(op2(RW_OP("Maximum"), behind.tensor(), constant(int64_t{0})));
    const Tensor own = part_of_vector(dims, extra, -1), wide = dims_tensor(part);
    const Tensor axes = apply(RW_OP("BroadcastGradientArgs"), {&own, &wide})[0];
    return g.set(4, reshape_dims(op2(RW_OP("Sum"), part, axes), dims));
  }
  Shape shape = value;
  while (shape.rank() > part.rank()) shape.erase(0);
  const Tensor sum = sum_to_shape(part, shape);
  g.set(4, sum.rank() == value.rank() ? sum : reshape_to(sum, value));
}

// (m0 * d0, m1 * d1, ...) as (m0, d0, m1, d1, ...), summed over the m.
void tile_grad(GradContext& g) {
  const Shape &in = g.input_shape(0), &out = g.output_shape(0);
  if (!in.fully_known() || !out.fully_known()) {
    const Tensor multiples = g.input(1), sizes = input_dims(g, 0, multiples.dtype());
    const Tensor pairs = apply_one(RW_OP("Pack"), {&multiples, &sizes}, {{"axis", 1}});
    const Tensor zero = constant(0), two = constant(2);
    const Tensor limit = element_count(pairs).tensor(DType::kInt32);
    const Tensor axes = apply_one(RW_OP("Range"), {&zero, &limit, &two});
    const Tensor split = reshape_dims(g.grad(), reshape_to(pairs, {-1}));
    return g.set(0, op2(RW_OP("Sum"), split, axes));
  }
  std::vector<int64_t> dims, sums;
  for (int k = 0; k < in.rank(); ++k) {
    if (in[k] != out[k] || in[k] == 0) {
      sums.push_back(int64_t(dims.size()));
      dims.push_back(in[k] == 0 ? 1 : out[k] / in[k]);
    }
    dims.push_back(in[k]);
  }
  if (sums.empty()) return g.set(0, g.grad());
  g.set(0, reduce_sum_axes(reshape_to(g.grad(), Shape(dims)), sums));
}

void pad_grad(GradContext& g) {
  if (!g.wants(0)) return;
  const Tensor& paddings = g.input(1);
  const Tensor first = constant({0, 0}), last = constant({0, 1}), step = constant({1, 1});
  const Tensor begin = apply_one(RW_OP("StridedSlice"), {&paddings, &first, &last, &step},
                                 {{"begin_mask", 1}, {"end_mask", 1}, {"shrink_axis_mask", 2}});
  const Tensor size = input_dims(g, 0, paddings.dtype());
  g.set(0, apply_one(RW_OP("Slice"), {&g.grad(), &begin, &size}));
}

// The op undone by another row with the same attributes and remaining inputs.
GradientFn undone_by(const char* row) {
  return [row](GradContext& g) {
    SmallVector<const Tensor*, 4> inputs{&g.grad()};
    for (int i = 1; i < g.num_inputs(); ++i) inputs.push_back(&g.input(i));
    g.set(0, apply_one(find_op(row), {inputs.data(), inputs.size()}, g.attrs()));
  };
}

void roll_grad(GradContext& g) {
  const Tensor& shift = g.input(1);
  const Tensor back = apply_one(RW_OP("Neg"), {&shift});
  g.set(0, apply_one(RW_OP("Roll"), {&g.grad(), &back, &g.input(2)}));
}

void concat_v2_grad(GradContext& g) {
  const int last = g.num_inputs() - 1;
  split_back(g, 0, last, g.input(last));
}

void pack_grad(GradContext& g) {
  const Tensors parts =
      apply(RW_OP("Unpack"), {&g.grad()}, {{"num", g.num_inputs()}, {"axis", g.attr<int64_t>("axis")}});
  for (int i = 0; i < g.num_inputs(); ++i)
    if (g.wants(i)) g.set(i, parts[size_t(i)]);
}

void unpack_grad(GradContext& g) {
  if (g.num_outputs() == 0) return g.set(0, zeros_like_input(g, 0));
  SmallVector<const Tensor*, 8> parts;
  for (int i = 0; i < g.num_outputs(); ++i) parts.push_back(&g.grad(i));
  g.set(0, apply_one(RW_OP("Pack"), {parts.data(), parts.size()}, {{"axis", g.attr<int64_t>("axis")}}));
}

}  // namespace

void register_shape_gradients() {
  register_gradient("Reshape", kNeedsNothing, reshape_back);
  register_gradient("ExpandDims", kNeedsNothing, reshape_back);
  register_gradient("Squeeze", kNeedsNothing, reshape_back);
  register_gradient("EnsureShape", kNeedsNothing, [](GradContext& g) { g.set(0, g.grad()); });
  register_gradient("Transpose", needs_inputs({1}), transpose_grad);
  register_gradient("BroadcastTo", kNeedsNothing,
                    [](GradContext& g) { g.set(0, sum_to_input(g.grad(), g, 0)); });

  register_gradient("ConcatV2", {.last_input = true}, concat_v2_grad);
  register_gradient("Concat", needs_inputs({0}),
                    [](GradContext& g) { split_back(g, 1, g.num_inputs() - 1, g.input(0)); });
  register_gradient("Pack", kNeedsNothing, pack_grad);
  register_gradient("Unpack", kNeedsNothing, unpack_grad);
  register_gradient("Split", needs_inputs({0}),
                    [](GradContext& g) { g.set(1, concat_grads(g, g.input(0))); });
  register_gradient("SplitV", needs_inputs({2}),
                    [](GradContext& g) { g.set(0, concat_grads(g, g.input(2))); });

  register_gradient("Slice", needs_inputs({1}), slice_grad);
  register_gradient("StridedSlice", needs_inputs({1, 2, 3}), strided_slice_grad);
  register_gradient("StridedSliceGrad", needs_inputs({1, 2, 3}), strided_slice_grad_grad);
  register_gradient("TensorStridedSliceUpdate", needs_inputs({1, 2, 3}), strided_update_grad);

  register_gradient("Tile", needs_inputs({1}), tile_grad);
  register_gradient("Pad", needs_inputs({1}), pad_grad);
  register_gradient("PadV2", needs_inputs({1}), pad_grad);
  register_gradient("MirrorPad", needs_inputs({1}), undone_by("MirrorPadGrad"));
  register_gradient("MirrorPadGrad", needs_inputs({1}), undone_by("MirrorPad"));
  register_gradient("ReverseV2", needs_inputs({1}), undone_by("ReverseV2"));
  register_gradient("Reverse", needs_inputs({1}), undone_by("Reverse"));
  register_gradient("ReverseSequence", needs_inputs({1}), undone_by("ReverseSequence"));
  register_gradient("Roll", needs_inputs({1, 2}), roll_grad);
  register_gradient("SpaceToDepth", kNeedsNothing, undone_by("DepthToSpace"));
  register_gradient("DepthToSpace", kNeedsNothing, undone_by("SpaceToDepth"));
  register_gradient("SpaceToBatchND", needs_inputs({1, 2}), undone_by("BatchToSpaceND"));
  register_gradient("BatchToSpaceND", needs_inputs({1, 2}), undone_by("SpaceToBatchND"));

  for (const char* op : {"Shape", "ShapeN", "Size", "Rank", "InvertPermutation", "BroadcastArgs",
                         "BroadcastGradientArgs", "ConcatOffset", "ResourceStridedSliceAssign"})
    register_not_differentiable(op);
}

}  // namespace rw
