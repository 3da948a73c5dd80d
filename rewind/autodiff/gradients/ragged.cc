// Gradients of ops on rows of different lengths: the op on the numbers of the values says where each went.
#include "rewind/autodiff/rule.h"
#include "rewind/tensor/apply.h"

namespace rw {
namespace {

Tensor number_like(int64_t value, const Tensor& t) { return scalar_tensor(value, t.dtype()); }

// Adds rows of the gradient to the values that they came from; ids of -1 belong to none.
Tensor sum_by(const Tensor& grad, const Tensor& ids, const Size& count) {
  const Tensor segments = count.tensor();
  return apply_one(RW_OP("UnsortedSegmentSum"), {&grad, &ids, &segments});
}

// Sums over the axes that broadcasting from `shape` made.
Tensor sum_to(const Tensor& x, const Tensor& shape) {
  const Tensor dims = dims_tensor(x, shape.dtype());
  const auto axes = apply(RW_OP("BroadcastGradientArgs"), {&shape, &dims});
  const Tensor sum = apply_one(RW_OP("Sum"), {&x, &axes[0]});
  return apply_one(RW_OP("Reshape"), {&sum, &shape});
}

void ragged_to_tensor_grad(GradContext& g) {
  const int partitions = g.num_inputs() - 3;
  const auto types = g.attr<std::vector<std::string>>("row_partition_types");
  const int ragged = partitions - (types[0] == "FIRST_DIM_SIZE");
  const Tensor values_dims = g.input_shape_tensor(1);
  const Size count = element_of(cast_ints(values_dims, DType::kInt64), 0);
  const Tensor out_dims = cast_ints(g.output_shape_tensor(0), DType::kInt64);
  const Tensor front = part_of_vector(out_dims, 0, ragged + 1);
  const Tensor ids_in = numbers_below(count);
  const Tensor none = number_like(-1, ids_in);
  std::vector<Tensor> inputs{front, ids_in, none};
  for (int i = 3; i < g.num_inputs(); ++i) inputs.push_back(g.input(i));
  const Tensor ids = apply(g.op(), inputs, g.attrs())[0];
  if (g.wants(1)) g.set(1, sum_by(g.grad(), ids, count));
  if (!g.wants(2)) return;
  // What no value reached took the default.
  const Tensor zero = number_like(0, ids);
  const Tensor empty = apply_one(RW_OP("Less"), {&ids, &zero});
  const Tensor minus = number_like(-1, ids);
  const Tensor at = apply_one(RW_OP("SelectV2"), {&empty, &zero, &minus});
  const Tensor one_sum = sum_by(g.grad(), at, 1);
  const Tensor axis = constant(std::vector<int32_t>{0});
  const Tensor sum = apply_one(RW_OP("Sum"), {&one_sum, &axis});
  g.set(2, sum_to(sum, g.input_shape_tensor(2)));
}

void ragged_gather_grad(GradContext& g) {
  const int levels = g.num_inputs() - 2;
  if (!g.wants(levels)) return;
  const Size count = element_of(cast_ints(g.input_shape_tensor(levels), DType::kInt64), 0);
  std::vector<Tensor> inputs;
  for (int i = 0; i < g.num_inputs(); ++i) inputs.push_back(i == levels ? numbers_below(count) : g.input(i));
  const auto taken = apply(g.op(), inputs, g.attrs());
  g.set(levels, sum_by(g.grad(g.num_outputs() - 1), taken[size_t(g.num_outputs()) - 1], count));
}

void sparse_to_dense_grad(GradContext& g) {
  const Tensor& indices = g.input(0);
  const Shape& at = g.input_shape(0);
  const Shape& values = g.input_shape(2);
  // An index is a tuple: a number alone is one of one axis.
  Tensor tuples = indices;
  if (at.rank() < 2)
    tuples = reshape_sizes(indices, {at.rank() == 0 ? Size(1) : sizes_of(indices)[0], Size(1)});
  const Tensor taken = apply_one(RW_OP("GatherNd"), {&g.grad(), &tuples});
  const Tensor axis = constant(std::vector<int32_t>{0});
  const Tensor total = apply_one(RW_OP("Sum"), {&taken, &axis});
  g.set(2, values.rank() == 0 ? total : taken);
  if (!g.wants(3)) return;
  const Tensor flat = reshape_sizes(g.grad(), {element_count(g.grad())});
  const Tensor all = apply_one(RW_OP("Sum"), {&flat, &axis});
  g.set(3, apply_one(RW_OP("Sub"), {&all, &total}));
}

}  // namespace

void register_ragged_gradients() {
  register_gradient("RaggedTensorToTensor", {.inputs = Needs::kAll & ~uint32_t{7}}, ragged_to_tensor_grad);
  register_gradient("RaggedGather", kNeedsInputs, ragged_gather_grad);
  register_gradient("SparseToDense", needs_inputs({0}), sparse_to_dense_grad);
  for (const char* op : {"RaggedRange", "RaggedBincount", "DenseBincount", "Bincount", "Bucketize"})
    register_not_differentiable(op);
}

}  // namespace rw
