// Batching of the matrix products: the batch is one more leading axis.
#include <algorithm>
#include <string>

#include "rewind/autodiff/batching.h"
#include "rewind/op/einsum.h"
#include "rewind/tensor/apply.h"

namespace rw {
namespace {

void matmul(BatchContext& c) {
  const Attrs attrs{{"adj_x", c.attr<bool>("transpose_a")}, {"adj_y", c.attr<bool>("transpose_b")}};
  c.set(0, apply_one(RW_OP("BatchMatMulV2"), {&c.input(0), &c.input(1)}, attrs));
}

void batch_matmul(BatchContext& c) {
  const int rank = std::max(c.rank(0), c.rank(1));
  const Tensor x = c.aligned(0, rank);
  const Tensor y = c.aligned(1, rank);
  const bool same_batches_only = c.op().name == "BatchMatMul";
  c.set(0, apply_one(same_batches_only ? RW_OP("BatchMatMulV2") : c.op(), {&x, &y}, c.attrs()));
}

void einsum(BatchContext& c) {
  EinsumEquation equation = EinsumEquation::parse(c.attr<std::string>("equation"));
  const char batch = equation.fresh_label();
  std::vector<Tensor> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) {
    inputs.push_back(c.input(i));
    if (c.batched(i)) equation.inputs[size_t(i)].insert(0, 1, batch);
  }
  equation.output.insert(0, 1, batch);
  c.set_all(apply(c.op(), inputs, c.attrs().with("equation", equation.to_string())));
}

}  // namespace

void register_matmul_batching() {
  register_batching("MatMul", matmul);
  for (const char* op : {"BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"})
    register_batching(op, batch_matmul);
  register_batching("Einsum", einsum);
}

}  // namespace rw
