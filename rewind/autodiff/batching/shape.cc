// Batching of the shape ops: the same movement behind a batch axis that stays in front.
#include "rewind/autodiff/batching/fold.h"
#include "rewind/autodiff/grad_ops.h"
#include "rewind/op/strided_slice.h"

namespace rw {
namespace {

using Numbers = std::vector<int64_t>;

// Whether the numbers in input i are the same for the whole batch and can be read now.
bool readable(const BatchContext& c, int i) { return !c.batched(i) && value_known(c.input(i)); }

Numbers numbers(const BatchContext& c, int i) {
  if (c.input(i).dtype() != DType::kBool) return known_ints(c.input(i));
  const auto flags = c.input(i).data<bool>();
  return {flags.begin(), flags.end()};
}

// A list input with `first` in front (for a matrix: a row of it), in its own type.
Tensor with_front(const BatchContext& c, int i, const Size& first) {
  const Tensor& t = c.input(i);
  Shape one = t.shape();
  one.set(0, 1);
  const Tensor front = first.known()
                           ? constant(Numbers(size_t(one.num_elements()), first.number()), one, t.dtype())
                           : reshape_to(first.tensor(t.dtype()), {1});
  const Tensor axis = constant(0);
  return apply_one(RW_OP("ConcatV2"), {&front, &t, &axis});
}

// Numbers in the type of input i.
Tensor like(const BatchContext& c, int i, const Numbers& list, bool scalar = false) {
  return constant(list, scalar ? Shape() : Shape{int64_t(list.size())}, c.input(i).dtype());
}

// An axis of the element as an axis of the batch.
int64_t behind_batch(int64_t axis, int rank) { return (axis < 0 ? axis + rank : axis) + 1; }

Shape with_batch_size(const BatchContext& c, Shape shape) {
  shape.insert(0, c.batch_size());
  return shape;
}

Shape element_shape(const BatchContext& c, int i) {
  Shape shape = c.input(i).shape();
  if (c.batched(i)) shape.erase(0);
  return shape;
}

// Registers a rule that needs every input but those named to be readable; otherwise the op runs in a loop.
void rule(const char* op, std::vector<int> data, BatchRule run) {
  register_batching(op, [data = std::move(data), run = std::move(run)](BatchContext& c) {
    for (int i = 0; i < c.num_inputs(); ++i) {
      bool is_data = false;
      for (const int d : data) is_data |= d == i;
      if (!is_data && !readable(c, i)) return batch_by_loop(c);
    }
    run(c);
  });
}

// The op again on input 0 with the batch in front and other numbers.
void again(BatchContext& c, std::initializer_list<const Tensor*> rest, const Attrs& attrs) {
  const Tensor x = c.with_batch(0);
  SmallVector<const Tensor*, 4> inputs{&x};
  for (const Tensor* t : rest) inputs.push_back(t);
  c.set_all(apply(c.op(), {inputs.data(), inputs.size()}, attrs));
}
void again(BatchContext& c, std::initializer_list<const Tensor*> rest) { again(c, rest, c.attrs()); }

// Without numbers to read, the op itself finds what is left open.
void reshape_open(BatchContext& c) {
  if (c.batched(1)) return batch_by_loop(c);
  const Tensor x = c.with_batch(0);
  const Tensor dims = with_front(c, 1, c.batch());
  c.set(0, apply_one(c.op(), {&x, &dims}));
}

void reshape_rule(BatchContext& c) {
  if (!readable(c, 1) || c.batch_size() < 0 || !element_shape(c, 0).fully_known()) return reshape_open(c);
  Numbers dims = numbers(c, 1);
  const int64_t count = element_shape(c, 0).num_elements();
  int64_t known = 1;
  for (const int64_t d : dims) known *= d == -1 ? 1 : d;
  for (int64_t& d : dims)
    if (d == -1 && known > 0) d = count / known;
  c.set(0, reshape_to(c.with_batch(0), with_batch_size(c, Shape(dims))));
}

void squeeze_rule(BatchContext& c) {
  const Shape shape = element_shape(c, 0);
  const auto axes = c.attr<std::vector<int64_t>>("squeeze_dims");
  Numbers all;
  for (const int64_t a : axes) all.push_back(behind_batch(a, shape.rank()));
  for (int k = 0; k < shape.rank() && axes.empty(); ++k)
    if (shape[k] == 1) all.push_back(k + 1);
  if (all.empty()) return c.set(0, c.input(0));
  again(c, {}, {{"squeeze_dims", all}});
}

// Inputs [first, first + count) are joined; numbers elsewhere are the axis.
void concat_rule(BatchContext& c, int first, int count, int axis_input) {
  if (!readable(c, axis_input)) return batch_by_loop(c);
  const Tensor axis = like(c, axis_input, {behind_batch(numbers(c, axis_input)[0], c.rank(first))}, true);
  std::vector<Tensor> inputs;
  for (int i = first; i < first + count; ++i) inputs.push_back(c.with_batch(i));
  inputs.insert(axis_input == 0 ? inputs.begin() : inputs.end(), axis);
  c.set_all(rw::apply(c.op(), inputs));
}

void pack_rule(BatchContext& c) {
  std::vector<Tensor> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) inputs.push_back(c.with_batch(i));
  c.set_all(rw::apply(c.op(), inputs, {{"axis", behind_batch(c.attr<int64_t>("axis"), c.rank(0) + 1)}}));
}

Attrs masks_behind_batch(const BatchContext& c) {
  const SliceMasks m = slice_masks(c.attrs());
  return {{"begin_mask", (m.begin << 1) | 1},
          {"end_mask", (m.end << 1) | 1},
          {"ellipsis_mask", m.ellipsis << 1},
          {"new_axis_mask", m.new_axis << 1},
          {"shrink_axis_mask", m.shrink_axis << 1}};
}

// Whether a strided slice takes one place on each of the axes that it names, as x[i] and x[i, j] do.
bool takes_places(const BatchContext& c) {
  const SliceMasks m = slice_masks(c.attrs());
  const int64_t count = c.input(1).shape().back();
  return count >= 0 && m.shrink_axis == (int64_t{1} << count) - 1 && (m.begin | m.new_axis | m.ellipsis) == 0;
}

// Such places, (batch, axes), with the batch's number in front if asked for; below 0 they count from the end.
Tensor places_of(const BatchContext& c, const Tensor& dims, bool numbered) {
  const Tensor& places = c.input(1);
  const Tensor sizes = part_of_vector(cast_ints(dims, places.dtype()), 0, places.dim(1));
  const Tensor zero = scalar_tensor(int64_t{0}, places.dtype());
  const Tensor below = apply_one(RW_OP("Less"), {&places, &zero});
  const Tensor wrapped = apply_one(RW_OP("AddV2"), {&places, &sizes});
  const Tensor all = apply_one(RW_OP("SelectV2"), {&below, &wrapped, &places});
  if (!numbered) return all;
  const Tensor front = reshape_sizes(numbers_below(c.batch(), places.dtype()), {c.batch(), 1});
  const Tensor axis = constant(1);
  return apply_one(RW_OP("ConcatV2"), {&front, &all, &axis});
}

// The sizes of an element as a vector.
Tensor element_dims(const BatchContext& c, int i) {
  const Shape shape = element_shape(c, i);
  if (shape.fully_known()) return dims_tensor(shape);
  const Tensor all = dims_tensor(c.input(i));
  return c.batched(i) ? part_of_vector(all, 1, -1) : all;
}

void slice_places(BatchContext& c) {
  if (c.batched(3) || !takes_places(c)) return batch_by_loop(c);
  const Tensor places = places_of(c, element_dims(c, 0), c.batched(0));
  c.set(0, apply_one(RW_OP("GatherNd"), {&c.input(0), &places}));
}

void slice_places_grad(BatchContext& c) {
  if (c.batched(0) || c.batched(3) || !takes_places(c)) return batch_by_loop(c);
  const Tensor places = places_of(c, c.input(0), true);
  const Tensor dims = cast_ints(with_front(c, 0, c.batch()), places.dtype());
  const Tensor dy = c.with_batch(4);
  c.set(0, apply_one(RW_OP("ScatterNd"), {&places, &dy, &dims}));
}

// Whether an element's slice begins within an axis that it takes whole: it is no legal one.
bool begins_within_whole_axes(const BatchContext& c, const Shape& shape, const Numbers& sizes) {
  if (!value_known(c.input(1))) return false;
  const Numbers begins = known_ints(c.input(1));
  for (size_t i = 0; i < begins.size(); ++i) {
    const size_t k = i % sizes.size();
    if (shape[int(k)] == sizes[k] && begins[i] != 0) return true;
  }
  return false;
}

// A slice whose begin differs: on each axis that is not taken whole, the rows from there on.
void slice_from_places(BatchContext& c) {
  if (!readable(c, 2)) return batch_by_loop(c);
  const Numbers sizes = numbers(c, 2);
  for (const int64_t n : sizes)
    if (n < 0) return batch_by_loop(c);
  const Shape shape = element_shape(c, 0);
  if (begins_within_whole_axes(c, shape, sizes)) return batch_by_loop(c);
  const DType dtype = c.input(1).dtype();
  Tensor x = c.input(0);
  bool batched = c.batched(0);
  for (int k = 0; k < shape.rank(); ++k) {
    if (shape[k] == sizes[size_t(k)]) continue;
    const Tensor from = constant(Numbers{0, k}), count = constant(Numbers{-1, 1});
    const Tensor begin = apply_one(RW_OP("Slice"), {&c.input(1), &from, &count});
    const Tensor steps = numbers_below(sizes[size_t(k)], dtype);
    const Tensor rows = apply_one(RW_OP("AddV2"), {&begin, &steps});
    const Tensor axis = constant(batched ? k + 1 : k);
    x = apply_one(RW_OP("GatherV2"), {&x, &rows, &axis}, {{"batch_dims", batched ? 1 : 0}});
    if (!batched) x = move_axis(x, k, 0);
    batched = true;
  }
  c.set(0, batched ? x : c.with_batch(0));
}

void slice_rule(BatchContext& c) {
  if (c.batched(2)) return batch_by_loop(c);
  if (c.batched(1)) return slice_from_places(c);
  const Tensor begin = with_front(c, 1, 0), size = with_front(c, 2, c.batch_size());
  again(c, {&begin, &size});
}

void strided_slice_rule(BatchContext& c) {
  if (c.batched(1)) return slice_places(c);
  if (c.batched(2) || c.batched(3)) return batch_by_loop(c);
  const Tensor begin = with_front(c, 1, 0), end = with_front(c, 2, 0), step = with_front(c, 3, 1);
  again(c, {&begin, &end, &step}, masks_behind_batch(c));
}

void strided_slice_grad_rule(BatchContext& c) {
  if (c.batched(1)) return slice_places_grad(c);
  for (int i = 0; i < 4; ++i)
    if (c.batched(i)) return batch_by_loop(c);
  const Tensor dims = with_front(c, 0, c.batch()), begin = with_front(c, 1, 0), end = with_front(c, 2, 0),
               step = with_front(c, 3, 1), dy = c.with_batch(4);
  c.set(0, apply_one(c.op(), {&dims, &begin, &end, &step, &dy}, masks_behind_batch(c)));
}

void strided_update_rule(BatchContext& c) {
  const auto list = [&](int i) {
    const Numbers n = numbers(c, i);
    return IntVector(n.begin(), n.end());
  };
  const SlicePlan plan =
      plan_slice(c.op().tag, element_shape(c, 0), list(1), list(2), list(3), slice_masks(c.attrs()));
  if (c.rank(4) > plan.shape.rank()) return batch_by_loop(c);
  const Tensor begin = with_front(c, 1, 0), end = with_front(c, 2, 0), step = with_front(c, 3, 1),
               value = c.aligned(4, plan.shape.rank());
  again(c, {&begin, &end, &step, &value}, masks_behind_batch(c));
}

// Sizes do not differ within the batch.
void shape_rule(BatchContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) {
    const Shape shape = element_shape(c, i);
    const auto type = c.attr<DType>("out_type");
    if (shape.fully_known()) c.set_same(i, dims_tensor(shape, type));
    else if (!c.batched(i)) c.set_same(i, dims_tensor(c.input(i), type));
    else c.set_same(i, part_of_vector(dims_tensor(c.input(i), type), 1, -1));
  }
}

void size_rule(BatchContext& c) {
  const Sizes sizes = sizes_of(c.input(0));
  c.set_same(0, product(sizes, 1, sizes.size()).tensor(c.attr<DType>("out_type")));
}

// Places of all permutations in one that keeps them apart.
void invert_permutation_rule(BatchContext& c) {
  const Sizes sizes = sizes_of(c.input(0));
  const Tensor starts = cast_ints(multiples_column(sizes[0], sizes[1]), c.input(0).dtype());
  const Tensor apart =
      reshape_sizes(apply_one(RW_OP("AddV2"), {&c.input(0), &starts}), {sizes[0] * sizes[1]});
  const Tensor inverse = reshape_sizes(apply_one(c.op(), {&apart}), sizes);
  c.set(0, apply_one(RW_OP("Sub"), {&inverse, &starts}));
}

// Sizes `front`, then those of `shape` from axis `from` on.
Shape joined(std::initializer_list<int64_t> front, const Shape& shape, int from) {
  Shape all(front);
  for (int k = from; k < shape.rank(); ++k) all.append(shape[k]);
  return all;
}

void space_to_batch_rule(BatchContext& c) {
  const Shape& in = c.input(0).shape();
  const int64_t b = in[0], n = in[1];
  if (!in.fully_known() || b * n == 0) return batch_by_loop(c);
  const Tensor x = reshape_to(c.input(0), joined({b * n}, in, 2));
  const Tensor y = apply_one(c.op(), {&x, &c.input(1), &c.input(2)});
  const int64_t blocks = y.dim(0) / (b * n);
  const Tensor apart = move_axis(reshape_to(y, joined({blocks, b, n}, y.shape(), 1)), 1, 0);
  c.set(0, reshape_to(apart, joined({b, blocks * n}, y.shape(), 1)));
}

void batch_to_space_rule(BatchContext& c) {
  const Shape& in = c.input(0).shape();
  int64_t blocks = 1;
  for (const int64_t v : numbers(c, 1)) blocks *= v;
  const int64_t b = in[0], n = blocks > 0 ? in[1] / blocks : 0;
  if (!in.fully_known() || n * blocks != in[1]) return batch_by_loop(c);
  const Tensor x = move_axis(reshape_to(c.input(0), joined({b, blocks, n}, in, 2)), 1, 0);
  const Tensor merged = reshape_to(x, joined({blocks * b * n}, in, 2));
  const Tensor y = apply_one(c.op(), {&merged, &c.input(1), &c.input(2)});
  c.set(0, reshape_to(y, joined({b, n}, y.shape(), 1)));
}

}  // namespace

void register_shape_batching() {
  rule("Reshape", {0, 1}, reshape_rule);
  rule("ExpandDims", {0}, [](BatchContext& c) {
    const Tensor axis = like(c, 1, {behind_batch(numbers(c, 1)[0], c.rank(0) + 1)}, true);
    again(c, {&axis});
  });
  rule("Squeeze", {0}, squeeze_rule);
  rule("EnsureShape", {0}, [](BatchContext& c) {
    const Shape shape = c.attr<Shape>("shape");
    again(c, {}, {{"shape", shape.has_rank() ? with_batch_size(c, shape) : shape}});
  });
  rule("Transpose", {0}, [](BatchContext& c) {
    Numbers perm{0};
    for (const int64_t p : numbers(c, 1)) perm.push_back(behind_batch(p, c.rank(0)));
    const Tensor t = like(c, 1, perm);
    again(c, {&t});
  });
  rule("BroadcastTo", {0, 1}, [](BatchContext& c) {
    if (c.batched(1) || c.input(1).dim(0) < 0) return batch_by_loop(c);
    const Tensor x = c.aligned(0, int(c.input(1).dim(0))), dims = with_front(c, 1, c.batch());
    c.set(0, apply_one(c.op(), {&x, &dims}));
  });

  register_batching("ConcatV2",
                    [](BatchContext& c) { concat_rule(c, 0, c.num_inputs() - 1, c.num_inputs() - 1); });
  register_batching("Concat", [](BatchContext& c) { concat_rule(c, 1, c.num_inputs() - 1, 0); });
  register_batching("Pack", pack_rule);
  rule("Unpack", {0}, [](BatchContext& c) {
    again(c, {}, c.attrs().with("axis", behind_batch(c.attr<int64_t>("axis"), c.rank(0))));
  });
  rule("Split", {1}, [](BatchContext& c) {
    const Tensor axis = like(c, 0, {behind_batch(numbers(c, 0)[0], c.rank(1))}, true), x = c.with_batch(1);
    c.set_all(apply(c.op(), {&axis, &x}, c.attrs()));
  });
  rule("SplitV", {0}, [](BatchContext& c) {
    const Tensor axis = like(c, 2, {behind_batch(numbers(c, 2)[0], c.rank(0))}, true);
    again(c, {&c.input(1), &axis});
  });

  register_batching("Slice", slice_rule);
  register_batching("StridedSlice", strided_slice_rule);
  register_batching("StridedSliceGrad", strided_slice_grad_rule);
  rule("TensorStridedSliceUpdate", {0, 4}, strided_update_rule);

  rule("Tile", {0}, [](BatchContext& c) {
    const Tensor multiples = with_front(c, 1, 1);
    again(c, {&multiples});
  });
  for (const char* op : {"Pad", "MirrorPad", "MirrorPadGrad"}) {
    rule(op, {0}, [](BatchContext& c) {
      const Tensor paddings = with_front(c, 1, 0);
      again(c, {&paddings});
    });
  }
  rule("PadV2", {0, 2}, [](BatchContext& c) {
    if (c.batched(2)) return batch_by_loop(c);
    const Tensor paddings = with_front(c, 1, 0);
    again(c, {&paddings, &c.input(2)});
  });
  rule("ReverseV2", {0}, [](BatchContext& c) {
    Numbers axes;
    for (const int64_t a : numbers(c, 1)) axes.push_back(behind_batch(a, c.rank(0)));
    const Tensor t = like(c, 1, axes);
    again(c, {&t});
  });
  rule("Reverse", {0}, [](BatchContext& c) {
    std::vector<bool> turned{false};
    for (const int64_t flag : numbers(c, 1)) turned.push_back(flag != 0);
    const Tensor t = constant(turned);
    again(c, {&t});
  });
  rule("ReverseSequence", {0}, [](BatchContext& c) {
    again(c, {&c.input(1)},
          {{"seq_dim", c.attr<int64_t>("seq_dim") + 1}, {"batch_dim", c.attr<int64_t>("batch_dim") + 1}});
  });
  rule("Roll", {0}, [](BatchContext& c) {
    Numbers axes;
    for (const int64_t a : numbers(c, 2)) axes.push_back(behind_batch(a, c.rank(0)));
    const Tensor t = like(c, 2, axes, c.input(2).rank() == 0);
    again(c, {&c.input(1), &t});
  });

  register_batching("Shape", shape_rule);
  register_batching("ShapeN", shape_rule);
  register_batching("Size", size_rule);
  register_batching("Rank", [](BatchContext& c) { c.set_same(0, constant(int32_t(c.rank(0)))); });
  rule("InvertPermutation", {0}, invert_permutation_rule);

  register_batching("SpaceToDepth", fold_all);
  register_batching("DepthToSpace", fold_all);
  rule("SpaceToBatchND", {0}, space_to_batch_rule);
  rule("BatchToSpaceND", {0}, batch_to_space_rule);
}

}  // namespace rw
