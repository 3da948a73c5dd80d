// Gradients of reads and writes by index. A read of rows along the first axis has a sparse gradient: it names
// the rows that were read; every other one is dense.
#include "rewind/autodiff/gradients/gather.h"

#include "rewind/autodiff/grad_ops.h"
#include "rewind/autodiff/rule.h"
#include "rewind/base/error.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/ops/binary.h"

namespace rw {

void register_segment_gradients();
void register_ragged_gradients();
void register_selection_gradients();

namespace {

Tensor transposed(const Tensor& t, const std::vector<int32_t>& order) {
  const Tensor perm = constant(order);
  return apply_one(RW_OP("Transpose"), {&t, &perm});
}

Tensor gather_nd(const Tensor& params, const Tensor& indices, const Attrs& attrs = {}) {
  return apply_one(RW_OP("GatherNd"), {&params, &indices}, attrs);
}

// Of input 0's shape.
Tensor scatter_nd(GradContext& g, const Tensor& indices, const Tensor& updates) {
  const Tensor dims = input_dims(g, 0, indices.dtype());
  return apply_one(RW_OP("ScatterNd"), {&indices, &updates, &dims}, g.attrs());
}

// Rows of the gradient that go to rows of params: as many as there are indices, each of params' other sizes.
IndexedSlices row_slices(GradContext& g, const Tensor& indices) {
  const Tensor places = reshape_to(indices, {-1});
  const Tensor dims = input_dims(g, 0);
  const Size count = element_count(indices);
  if (!g.input_shape(0).has_rank()) {
    const Tensor rows = concat_rows(dims_tensor(Sizes{count}), part_of_vector(dims, 1, -1));
    return {reshape_dims(g.grad(), rows), places, dims};
  }
  Sizes rows = input_sizes(g, 0);
  rows[0] = count;
  return {reshape_sizes(g.grad(), rows), places, dims};
}

}  // namespace

GatherSizes known_gather(const Sizes& params, const Sizes& indices, size_t axis, size_t batch_dims) {
  return {product(params, 0, batch_dims), product(params, batch_dims, axis), params[axis],
          product(params, axis + 1, params.size()), product(indices, batch_dims, indices.size())};
}

GatherSizes asked_gather(const Tensor& params, const Tensor& indices, const Tensor& axis,
                         int64_t batch_dims) {
  auto from_front = [](const Tensor& at, const Tensor& dims) {
    const Tensor rank = element_count(dims).tensor();
    return Size(apply_one(RW_OP("FloorMod"), {&at, &rank}));
  };
  auto count = [](const Tensor& dims, const Size& begin, const Size& end) {
    const Tensor part = part_of_vector(dims, begin, end);
    const Tensor zero = constant(0);
    return Size(apply_one(RW_OP("Prod"), {&part, &zero}));
  };
  const Size a = from_front(cast_ints(axis, DType::kInt64), params);
  const Size b = batch_dims >= 0 ? Size(batch_dims) : from_front(constant(batch_dims), indices);
  return {count(params, 0, b), count(params, b, a), element_of(params, a), count(params, a + 1, -1),
          count(indices, b, -1)};
}

Tensor dense_gather_grad(const Tensor& grad, const Tensor& indices, const GatherSizes& s) {
  const Tensor updates = transposed(reshape_sizes(grad, {s.batch, s.outer, s.n, s.inner}), {0, 2, 1, 3});
  Tensor ids = reshape_sizes(indices, {s.batch, s.n});
  if (!s.batch.is(0) && !s.batch.is(1))
    ids = cast_ints(ids, DType::kInt64) + multiples_column(s.batch, s.rows);
  const Tensor count = (s.batch * s.rows).tensor();
  const Tensor sums = apply_one(RW_OP("UnsortedSegmentSum"), {&updates, &ids, &count});
  return transposed(reshape_sizes(sums, {s.batch, s.rows, s.outer, s.inner}), {0, 2, 1, 3});
}

namespace {

void gather_grad(GradContext& g, const Tensor& axis, int64_t batch_dims) {
  if (!g.wants(0)) return;
  const Shape& params = g.input_shape(0);
  const Tensor& indices = g.input(1);
  const bool axis_known = value_known(axis);
  int64_t a = axis_known ? known_ints(axis)[0] : 0;
  if (a < 0 && params.has_rank()) a += params.rank();
  if (batch_dims < 0 && indices.shape().has_rank()) batch_dims += indices.rank();
  if (axis_known && a == 0 && batch_dims == 0) return g.set(0, row_slices(g, indices));
  const bool known = axis_known && params.has_rank() && indices.shape().has_rank();
  const GatherSizes sizes =
      known ? known_gather(input_sizes(g, 0), sizes_of(indices), size_t(a), size_t(batch_dims))
            : asked_gather(input_dims(g, 0), dims_tensor(indices), axis, batch_dims);
  g.set(0, reshape_to_input(dense_gather_grad(g.grad(), indices, sizes), g, 0));
}

// The larger or smaller one wins; where several share the place, so do they share the gradient.
void tensor_scatter_extreme(GradContext& g) {
  const Tensor& tensor = g.input(0);
  const Tensor& indices = g.input(1);
  const Tensor& updates = g.input(2);
  const Tensor& out = g.output(0);
  const Attrs to_float = {{"DstT", g.input_dtype(0)}};
  auto equal = [&](const Tensor& a, const Tensor& b) {
    const Tensor same = apply_one(RW_OP("Equal"), {&a, &b});
    return apply_one(RW_OP("Cast"), {&same}, to_float);
  };
  const Tensor kept = equal(tensor, out);
  const Tensor taken = equal(updates, gather_nd(out, indices, g.attrs()));
  const Tensor winners = scatter_nd(g, indices, taken) + kept;
  const Tensor share = apply_one(RW_OP("Div"), {&g.grad(), &winners});
  if (g.wants(0)) g.set(0, share * kept);
  if (g.wants(2)) g.set(2, gather_nd(share, indices, g.attrs()) * taken);
}

}  // namespace

void register_gather_gradients() {
  register_gradient("Gather", needs_inputs({1}), [](GradContext& g) { gather_grad(g, constant(0), 0); });
  register_gradient("GatherV2", needs_inputs({1, 2}),
                    [](GradContext& g) { gather_grad(g, g.input(2), g.attr<int64_t>("batch_dims")); });
  register_gradient("GatherNd", needs_inputs({1}), [](GradContext& g) {
    const Tensor& indices = g.input(1);
    const bool rows = indices.rank() == 2 && indices.dim(-1) == 1 && g.attrs().empty();
    if (rows) g.set(0, IndexedSlices{g.grad(), reshape_to(indices, {-1}), input_dims(g, 0)});
    else g.set(0, scatter_nd(g, indices, g.grad()));
  });
  register_gradient("ScatterNd", needs_inputs({0}),
                    [](GradContext& g) { g.set(1, gather_nd(g.grad(), g.input(0), g.attrs())); });
  register_gradient("TensorScatterUpdate", needs_inputs({1}), [](GradContext& g) {
    const Tensor& indices = g.input(1);
    if (g.wants(0)) {
      const Tensor zeros = zeros_like_input(g, 2);
      g.set(0, apply_one(RW_OP("TensorScatterUpdate"), {&g.grad(), &indices, &zeros}, g.attrs()));
    }
    if (g.wants(2)) g.set(2, gather_nd(g.grad(), indices, g.attrs()));
  });
  register_gradient("TensorScatterAdd", needs_inputs({1}), [](GradContext& g) {
    if (g.wants(0)) g.set(0, g.grad());
    if (g.wants(2)) g.set(2, gather_nd(g.grad(), g.input(1), g.attrs()));
  });
  register_gradient("TensorScatterSub", needs_inputs({1}), [](GradContext& g) {
    if (g.wants(0)) g.set(0, g.grad());
    if (g.wants(2)) g.set(2, -gather_nd(g.grad(), g.input(1), g.attrs()));
  });
  for (const char* op : {"TensorScatterMax", "TensorScatterMin"})
    register_gradient(op, kNeedsAll, tensor_scatter_extreme);
  register_segment_gradients();
  register_ragged_gradients();
  register_selection_gradients();
}

}  // namespace rw
