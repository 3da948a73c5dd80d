// Gradients of ops that choose elements: what was chosen gets the gradient back at its place.
#include "rewind/autodiff/grad_ops.h"
#include "rewind/autodiff/rule.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/ops/binary.h"

namespace rw {
namespace {

// The product of all sizes but the last.
Size leading_count(const Tensor& dims) {
  const Tensor front = part_of_vector(dims, 0, element_count(dims) - 1);
  const Tensor axis = constant(0);
  return Size(apply_one(RW_OP("Prod"), {&front, &axis}));
}

// Each row's chosen positions become positions in the whole.
void top_k_grad(GradContext& g) {
  const Shape& x = g.input_shape(0);
  if (x.num_elements() == 0) return g.set(0, zeros_like_input(g, 0));
  const bool ranked = x.has_rank();
  const Tensor whole = input_dims(g, 0);
  const Size n = ranked ? input_sizes(g, 0).back() : element_of(whole, element_count(whole) - 1);
  const Size k = ranked ? output_sizes(g, 1).back() : element_of(output_dims(g, 1), element_count(whole) - 1);
  const Size rows = ranked ? product(input_sizes(g, 0), 0, size_t(x.rank()) - 1) : leading_count(whole);
  Tensor places = cast_ints(g.output(1), DType::kInt64);
  if (!rows.is(1)) places = reshape_sizes(places, {rows, k}) + multiples_column(rows, n);
  const Tensor at = reshape_sizes(places, {rows * k, 1});
  const Tensor updates = reshape_to(g.grad(0), {-1});
  const Tensor dims = dims_tensor(Sizes{rows * n});
  g.set(0, reshape_to_input(apply_one(RW_OP("ScatterNd"), {&at, &updates, &dims}), g, 0));
}

// The numbers of the rows, partitioned alike, say where each row came from.
void dynamic_partition_grad(GradContext& g) {
  const Tensor& partitions = g.input(1);
  const Tensor numbers = numbers_below(element_count(partitions), DType::kInt32);
  const Tensor original = reshape_dims(numbers, dims_tensor(partitions));
  const Tensors parts = apply(RW_OP("DynamicPartition"), {&original, &partitions}, g.attrs());
  std::vector<Tensor> inputs(parts.begin(), parts.end());
  for (int i = 0; i < g.num_outputs(); ++i) inputs.push_back(g.grad(i));
  g.set(0, reshape_to_input(rw::apply(RW_OP("DynamicStitch"), inputs)[0], g, 0));
}

void dynamic_stitch_grad(GradContext& g) {
  const int n = g.num_inputs() / 2;
  const Tensor axis = constant(0);
  for (int i = 0; i < n; ++i)
    if (g.wants(n + i)) g.set(n + i, apply_one(RW_OP("GatherV2"), {&g.grad(), &g.input(i), &axis}));
}

}  // namespace

void register_selection_gradients() {
  for (const char* op : {"TopK", "TopKV2"}) register_gradient(op, {0, 0b10}, top_k_grad);
  register_gradient("DynamicPartition", needs_inputs({1}), dynamic_partition_grad);
  for (const char* op : {"DynamicStitch", "ParallelDynamicStitch"})
    register_gradient(op, kNeedsInputs, dynamic_stitch_grad);
  for (const char* op : {"Where", "Unique", "UniqueV2", "UniqueWithCounts", "UniqueWithCountsV2", "InTopK",
                         "InTopKV2", "LowerBound", "UpperBound", "ListDiff"})
    register_not_differentiable(op);
}

}  // namespace rw
