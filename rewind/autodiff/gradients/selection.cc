// Gradients of ops that choose elements: what was chosen gets the gradient back at its place.
#include "rewind/autodiff/grad_ops.h"
#include "rewind/autodiff/rule.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/ops/binary.h"

namespace rw {
namespace {

// Each row's chosen positions become positions in the whole.
void top_k_grad(GradContext& g) {
  const Shape& x = g.input_shape(0);
  const int64_t n = x.back();
  const int64_t size = x.num_elements();
  if (size == 0) return g.set(0, filled(g.input_dtype(0), x, 0));
  const int64_t rows = size / n;
  Tensor places = apply_one(RW_OP("Cast"), {&g.output(1)}, {{"DstT", DType::kInt64}});
  if (rows > 1) {
    std::vector<int64_t> starts(static_cast<size_t>(rows));
    for (size_t r = 0; r < starts.size(); ++r) starts[r] = int64_t(r) * n;
    places = reshape_to(places, {rows, g.output_shape(1).back()}) + constant(starts, Shape{rows, 1});
  }
  const Tensor at = reshape_to(places, {-1, 1});
  const Tensor updates = reshape_to(g.grad(0), {-1});
  const Tensor dims = constant(std::vector<int64_t>{size});
  g.set(0, reshape_to(apply_one(RW_OP("ScatterNd"), {&at, &updates, &dims}), x));
}

// The numbers of the rows, partitioned alike, say where each row came from.
void dynamic_partition_grad(GradContext& g) {
  const Tensor& partitions = g.input(1);
  const int64_t count = partitions.size();
  std::vector<int32_t> numbers(static_cast<size_t>(count));
  for (size_t k = 0; k < numbers.size(); ++k) numbers[k] = int32_t(k);
  const Tensor original = constant(numbers, partitions.shape());
  const Tensors parts = apply(RW_OP("DynamicPartition"), {&original, &partitions}, g.attrs());
  std::vector<Tensor> inputs(parts.begin(), parts.end());
  for (int i = 0; i < g.num_outputs(); ++i) inputs.push_back(g.grad(i));
  g.set(0, reshape_to(rw::apply(RW_OP("DynamicStitch"), inputs)[0], g.input_shape(0)));
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
