// Gradients of reads of variables: they flow to the handle. Reads of rows give sparse ones.
#include "rewind/autodiff/grad_ops.h"
#include "rewind/autodiff/rule.h"
#include "rewind/tensor/apply.h"

namespace rw {
namespace {

Tensor variable_shape(const Tensor& handle, DType dtype) {
  return apply_one(RW_OP("VariableShape"), {&handle}, {{"out_type", dtype}});
}

// Rows of the gradient that go to rows of the variable. With batch_dims, the numbers of the rows are those of
// the variable seen with its first axes merged.
void resource_gather_grad(GradContext& g) {
  const Tensor& handle = g.input(0);
  const Tensor& indices = g.input(1);
  const int64_t batch_dims = g.attr<int64_t>("batch_dims");
  const Tensor shape = variable_shape(handle, DType::kInt64);
  if (batch_dims == 0) {
    const Tensor one = constant(std::vector<int64_t>{1});
    const Tensor rest = constant(std::vector<int64_t>{-1});
    const Tensor row = apply_one(RW_OP("Slice"), {&shape, &one, &rest});
    const Tensor count = constant(std::vector<int64_t>{indices.shape().fully_known() ? indices.size() : -1});
    const Tensor dims = concat_rows(count, row);
    g.set(0,
          IndexedSlices{apply_one(RW_OP("Reshape"), {&g.grad(), &dims}), reshape_to(indices, {-1}), shape});
    return;
  }
  const auto sizes = shape.data<int64_t>();
  const int64_t axis = batch_dims < 0 ? batch_dims + indices.rank() : batch_dims;
  int64_t batch = 1;
  for (int64_t d = 0; d < axis; ++d) batch *= sizes[size_t(d)];
  const int64_t rows = sizes[size_t(axis)];
  const int64_t n = batch == 0 ? 0 : indices.size() / batch;
  std::vector<int64_t> starts(static_cast<size_t>(batch));
  for (size_t b = 0; b < starts.size(); ++b) starts[b] = int64_t(b) * rows;
  const Tensor wide = apply_one(RW_OP("Cast"), {&indices}, {{"DstT", DType::kInt64}});
  const Tensor ids = add_tensors(reshape_to(wide, {batch, n}), constant(starts, Shape{batch, 1}));
  const Tensor count = constant(batch * rows);
  Shape update{batch, n};
  for (size_t d = size_t(axis) + 1; d < sizes.size(); ++d) update.append(sizes[d]);
  const Tensor updates = reshape_to(g.grad(), update);
  const Tensor sums = apply_one(RW_OP("UnsortedSegmentSum"), {&updates, &ids, &count});
  g.set(0, reshape_to(sums, Shape(std::span<const int64_t>(sizes.data(), sizes.size()))));
}

void resource_gather_nd_grad(GradContext& g) {
  const Tensor& handle = g.input(0);
  const Tensor& indices = g.input(1);
  if (indices.rank() == 2 && indices.dim(-1) == 1) {
    g.set(0, IndexedSlices{g.grad(), reshape_to(indices, {-1}), variable_shape(handle, DType::kInt64)});
  } else {
    const Tensor dims = variable_shape(handle, indices.dtype());
    g.set(0, apply_one(RW_OP("ScatterNd"), {&indices, &g.grad(), &dims}));
  }
}

}  // namespace

void register_state_gradients() {
  register_gradient("ReadVariableOp", kNeedsNothing, [](GradContext& g) { g.set(0, g.raw_grad()); });
  register_gradient("ResourceGather", needs_inputs({0, 1}), resource_gather_grad);
  register_gradient("ResourceGatherNd", needs_inputs({0, 1}), resource_gather_nd_grad);
}

}  // namespace rw
