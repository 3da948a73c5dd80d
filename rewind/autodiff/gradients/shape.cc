// Gradients of the ops that move elements: the movement back. Where elements were repeated their gradients add up.
#include <numeric>

#include "rewind/autodiff/grad_ops.h"
#include "rewind/autodiff/rule.h"
#include "rewind/base/error.h"
#include "rewind/tensor/apply.h"

namespace rw {
namespace {

std::vector<int64_t> values_of(const Tensor& t) {
  if (t.dtype() == DType::kInt64) return t.to_vector<int64_t>();
  if (t.dtype() == DType::kInt32) {
    const auto v = t.data<int32_t>();
    return {v.begin(), v.end()};
  }
  if (t.dtype() == DType::kInt16) {
    const auto v = t.data<int16_t>();
    return {v.begin(), v.end()};
  }
  const auto v = t.data<int8_t>();
  return {v.begin(), v.end()};
}

// A shape as a vector of the given integer type.
Tensor dims_of(const Shape& shape, DType dtype = DType::kInt64) {
  return constant(std::vector<int64_t>(shape.begin(), shape.end()), dtype);
}

void reshape_back(GradContext& g) { g.set(0, reshape_to(g.grad(), g.input_shape(0))); }

void transpose_grad(GradContext& g) {
  const Tensor& perm = g.input(1);
  std::vector<int64_t> forward = values_of(perm), back(forward.size());
  for (size_t k = 0; k < forward.size(); ++k) {
    const int64_t p = forward[k] < 0 ? forward[k] + int64_t(forward.size()) : forward[k];
    back[size_t(p)] = int64_t(k);
  }
  const Tensor inverse = constant(back, perm.dtype());
  g.set(0, apply_one(RW_OP("Transpose"), {&g.grad(), &inverse}));
}

// The gradient of a join along `axis`: one part for each of the inputs [first, first + count).
void split_back(GradContext& g, int first, int count, int64_t axis) {
  const Shape& whole = g.output_shape(0);
  if (axis < 0) axis += whole.rank();
  std::vector<int64_t> sizes;
  for (int i = first; i < first + count; ++i) sizes.push_back(g.input_shape(i)[int(axis)]);
  const Tensor lengths = constant(sizes), along = constant(int32_t(axis));
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
  const std::vector<int64_t> begin = values_of(g.input(1));
  std::vector<int64_t> paddings;
  for (size_t k = 0; k < begin.size(); ++k) {
    paddings.push_back(begin[k]);
    paddings.push_back(g.input_shape(0)[int(k)] - begin[k] - g.output_shape(0)[int(k)]);
  }
  const Tensor edges = constant(paddings, Shape{int64_t(begin.size()), 2});
  g.set(0, apply_one(RW_OP("Pad"), {&g.grad(), &edges}));
}

void strided_slice_grad(GradContext& g) {
  Tensor spec[3] = {g.input(1), g.input(2), g.input(3)};
  if (spec[0].dtype() == DType::kInt16)
    for (Tensor& t : spec) t = constant(values_of(t), DType::kInt32);
  const Tensor dims = dims_of(g.input_shape(0), spec[0].dtype());
  g.set(0, apply_one(RW_OP("StridedSliceGrad"), {&dims, &spec[0], &spec[1], &spec[2], &g.grad()}, g.attrs()));
}

void strided_slice_grad_grad(GradContext& g) {
  if (g.wants(4))
    g.set(4, apply_one(RW_OP("StridedSlice"), {&g.grad(), &g.input(1), &g.input(2), &g.input(3)}, g.attrs()));
}

void strided_update_grad(GradContext& g) {
  const Tensor &begin = g.input(1), &end = g.input(2), &strides = g.input(3);
  if (g.wants(0)) {
    const Tensor zeros = filled(g.input_dtype(4), g.input_shape(4), 0);
    g.set(0, apply_one(RW_OP("TensorStridedSliceUpdate"), {&g.grad(), &begin, &end, &strides, &zeros}, g.attrs()));
  }
  if (!g.wants(4)) return;
  // The value was broadcast; sizes of 1 in front of it did not count.
  const Tensor part = apply_one(RW_OP("StridedSlice"), {&g.grad(), &begin, &end, &strides}, g.attrs());
  Shape shape = g.input_shape(4);
  while (shape.rank() > part.rank()) shape.erase(0);
  const Tensor sum = sum_to_shape(part, shape);
  g.set(4, sum.rank() == g.input_shape(4).rank() ? sum : reshape_to(sum, g.input_shape(4)));
}

// (m0 * d0, m1 * d1, ...) as (m0, d0, m1, d1, ...), summed over the m.
void tile_grad(GradContext& g) {
  const std::vector<int64_t> multiples = values_of(g.input(1));
  std::vector<int64_t> dims, sums;
  for (size_t k = 0; k < multiples.size(); ++k) {
    const int64_t size = g.input_shape(0)[int(k)];
    if (multiples[k] != 1) {
      sums.push_back(int64_t(dims.size()));
      dims.push_back(multiples[k]);
    }
    dims.push_back(size);
  }
  if (sums.empty()) return g.set(0, g.grad());
  g.set(0, reduce_sum_axes(reshape_to(g.grad(), Shape(dims)), sums));
}

void pad_grad(GradContext& g) {
  const std::vector<int64_t> paddings = values_of(g.input(1));
  std::vector<int64_t> begin;
  for (size_t k = 0; k < paddings.size(); k += 2) begin.push_back(paddings[k]);
  const Tensor from = constant(begin), size = dims_of(g.input_shape(0));
  if (g.wants(0)) g.set(0, apply_one(RW_OP("Slice"), {&g.grad(), &from, &size}));
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
  split_back(g, 0, last, values_of(g.input(last))[0]);
}

void pack_grad(GradContext& g) {
  const Tensors parts = apply(RW_OP("Unpack"), {&g.grad()}, {{"num", g.num_inputs()}, {"axis", g.attr<int64_t>("axis")}});
  for (int i = 0; i < g.num_inputs(); ++i)
    if (g.wants(i)) g.set(i, parts[size_t(i)]);
}

void unpack_grad(GradContext& g) {
  if (g.num_outputs() == 0) return g.set(0, filled(g.input_dtype(0), g.input_shape(0), 0));
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
  register_gradient("BroadcastTo", kNeedsNothing, [](GradContext& g) { g.set(0, sum_to_shape(g.grad(), g.input_shape(0))); });

  register_gradient("ConcatV2", {.last_input = true}, concat_v2_grad);
  register_gradient("Concat", needs_inputs({0}), [](GradContext& g) { split_back(g, 1, g.num_inputs() - 1, values_of(g.input(0))[0]); });
  register_gradient("Pack", kNeedsNothing, pack_grad);
  register_gradient("Unpack", kNeedsNothing, unpack_grad);
  register_gradient("Split", needs_inputs({0}), [](GradContext& g) { g.set(1, concat_grads(g, g.input(0))); });
  register_gradient("SplitV", needs_inputs({2}), [](GradContext& g) { g.set(0, concat_grads(g, g.input(2))); });

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

  for (const char* op : {"Shape", "ShapeN", "Size", "Rank", "InvertPermutation", "BroadcastArgs", "BroadcastGradientArgs",
                         "ConcatOffset", "ResourceStridedSliceAssign"})
    register_not_differentiable(op);
}

}  // namespace rw
