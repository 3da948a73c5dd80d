// Gradients of reads of variables: they flow to the handle. Reads of rows give sparse ones.
#include "rewind/autodiff/grad_ops.h"
#include "rewind/autodiff/gradients/gather.h"
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
    const Tensor dims = concat_rows(dims_tensor(Sizes{element_count(indices)}), row);
    g.set(0,
          IndexedSlices{apply_one(RW_OP("Reshape"), {&g.grad(), &dims}), reshape_to(indices, {-1}), shape});
    return;
  }
  const int64_t axis =
      batch_dims < 0 && indices.shape().has_rank() ? batch_dims + indices.rank() : batch_dims;
  GatherSizes sizes;
  if (axis >= 0 && value_known(shape) && indices.shape().has_rank()) {
    Sizes params;
    for (const int64_t d : known_ints(shape)) params.emplace_back(d);
    sizes = known_gather(params, sizes_of(indices), size_t(axis), size_t(axis));
  } else {
    sizes = asked_gather(shape, dims_tensor(indices), constant(axis), axis);
  }
  g.set(0, reshape_dims(dense_gather_grad(g.grad(), indices, sizes), shape));
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
  for (const char* op :
       {"HashTableV2", "AnonymousHashTable", "MutableHashTableV2", "AnonymousMutableHashTable",
        "MutableHashTableOfTensorsV2", "AnonymousMutableHashTableOfTensors", "MutableDenseHashTableV2",
        "AnonymousMutableDenseHashTable", "InitializeTableV2", "InitializeTableFromTextFileV2",
        "LookupTableFindV2", "LookupTableInsertV2", "LookupTableRemoveV2", "LookupTableSizeV2",
        "LookupTableExportV2", "LookupTableImportV2"})
    register_not_differentiable(op);
  register_gradient("ReadVariableOp", kNeedsNothing, [](GradContext& g) { g.set(0, g.raw_grad()); });
  register_gradient("ResourceGather", needs_inputs({0, 1}), resource_gather_grad);
  register_gradient("ResourceGatherNd", needs_inputs({0, 1}), resource_gather_nd_grad);
}

}  // namespace rw
