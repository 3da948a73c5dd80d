// Gradients of reads and writes by index. A read of rows along the first axis has a sparse gradient: it names
// the rows that were read; every other one is dense.
#include "rewind/autodiff/grad_ops.h"
#include "rewind/autodiff/rule.h"
#include "rewind/base/error.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/ops/binary.h"

namespace rw {

void register_segment_gradients();
void register_selection_gradients();

namespace {

Tensor shape_tensor(const Shape& shape, DType dtype = DType::kInt64) {
  return constant(std::vector<int64_t>(shape.begin(), shape.end()), dtype);
}

Tensor reshaped(const Tensor& t, const std::vector<int64_t>& dims) { return reshape_to(t, Shape(dims)); }

Tensor transposed(const Tensor& t, const std::vector<int32_t>& order) {
  const Tensor perm = constant(order);
  return apply_one(RW_OP("Transpose"), {&t, &perm});
}

Tensor gather_nd(const Tensor& params, const Tensor& indices, const Attrs& attrs = {}) {
  return apply_one(RW_OP("GatherNd"), {&params, &indices}, attrs);
}

Tensor scatter_nd(const Tensor& indices, const Tensor& updates, const Shape& shape, const Attrs& attrs = {}) {
  const Tensor dims = shape_tensor(shape, indices.dtype());
  return apply_one(RW_OP("ScatterNd"), {&indices, &updates, &dims}, attrs);
}

int64_t product(const Shape& shape, int begin, int end) {
  int64_t n = 1;
  for (int d = begin; d < end; ++d) n *= shape[d];
  return n;
}

// Rows of the gradient that go to rows of params: as many as there are indices, each of params' other sizes.
IndexedSlices row_slices(const Tensor& grad, const Tensor& indices, const Shape& params) {
  std::vector<int64_t> rows(params.begin(), params.end());
  rows[0] = -1;
  // With rows of no elements the number of rows does not follow from the gradient.
  if (indices.shape().fully_known()) rows[0] = indices.size();
  return {reshaped(grad, rows), reshaped(indices, {-1}), shape_tensor(params)};
}

// The gradient of params[..., indices, ...] as a tensor: params seen as (batch, outer, rows, inner), the rows
// brought to the front within each batch and summed by number.
Tensor dense_gather_grad(const Tensor& grad, const Tensor& indices, const Shape& params, int axis,
                         int batch_dims) {
  const int64_t batch = product(params, 0, batch_dims);
  const int64_t outer = product(params, batch_dims, axis);
  const int64_t rows = params[axis];
  const int64_t inner = product(params, axis + 1, params.rank());
  const int64_t n = product(indices.shape(), batch_dims, indices.rank());
  const Tensor updates = transposed(reshaped(grad, {batch, outer, n, inner}), {0, 2, 1, 3});
  Tensor ids = reshaped(indices, {batch, n});
  if (batch > 1) {
    std::vector<int64_t> starts(static_cast<size_t>(batch));
    for (size_t b = 0; b < starts.size(); ++b) starts[b] = int64_t(b) * rows;
    ids = apply_one(RW_OP("Cast"), {&ids}, {{"DstT", DType::kInt64}}) + constant(starts, Shape{batch, 1});
  }
  const Tensor count = constant(batch * rows);
  const Tensor sums = apply_one(RW_OP("UnsortedSegmentSum"), {&updates, &ids, &count});
  return reshape_to(transposed(reshaped(sums, {batch, rows, outer, inner}), {0, 2, 1, 3}), params);
}

void gather_grad(GradContext& g, int64_t axis, int64_t batch_dims) {
  if (!g.wants(0)) return;
  const Shape& params = g.input_shape(0);
  const Tensor& indices = g.input(1);
  if (axis < 0) axis += params.rank();
  if (batch_dims < 0) batch_dims += indices.rank();
  if (axis == 0 && batch_dims == 0) g.set(0, row_slices(g.grad(), indices, params));
  else g.set(0, dense_gather_grad(g.grad(), indices, params, int(axis), int(batch_dims)));
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
  const Tensor winners = scatter_nd(indices, taken, g.input_shape(0), g.attrs()) + kept;
  const Tensor share = apply_one(RW_OP("Div"), {&g.grad(), &winners});
  if (g.wants(0)) g.set(0, share * kept);
  if (g.wants(2)) g.set(2, gather_nd(share, indices, g.attrs()) * taken);
}

}  // namespace

void register_gather_gradients() {
  register_gradient("Gather", needs_inputs({1}), [](GradContext& g) { gather_grad(g, 0, 0); });
  register_gradient("GatherV2", needs_inputs({1, 2}), [](GradContext& g) {
    const Tensor& axis = g.input(2);
    gather_grad(g, axis.dtype() == DType::kInt32 ? axis.item<int32_t>() : axis.item<int64_t>(),
                g.attr<int64_t>("batch_dims"));
  });
  register_gradient("GatherNd", needs_inputs({1}), [](GradContext& g) {
    const Tensor& indices = g.input(1);
    const bool rows = indices.rank() == 2 && indices.dim(-1) == 1 && g.attrs().empty();
    if (rows) g.set(0, IndexedSlices{g.grad(), reshaped(indices, {-1}), shape_tensor(g.input_shape(0))});
    else g.set(0, scatter_nd(indices, g.grad(), g.input_shape(0), g.attrs()));
  });
  register_gradient("ScatterNd", needs_inputs({0}),
                    [](GradContext& g) { g.set(1, gather_nd(g.grad(), g.input(0), g.attrs())); });
  register_gradient("TensorScatterUpdate", needs_inputs({1}), [](GradContext& g) {
    const Tensor& indices = g.input(1);
    if (g.wants(0)) {
      const Tensor zeros = filled(g.input_dtype(2), g.input_shape(2), 0);
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
  register_selection_gradients();
}

}  // namespace rw
