// Batching of the elementwise ops that do not broadcast, or whose inputs have different roles. The others
// need no rule.
#include <algorithm>

#include "rewind/autodiff/batching.h"
#include "rewind/tensor/apply.h"

namespace rw {
namespace {

// Sizes of an element of input i.
Sizes element_sizes(const BatchContext& c, int i) {
  Sizes sizes = sizes_of(c.input(i));
  if (c.batched(i)) sizes.erase(sizes.begin());
  return sizes;
}

void batch_all(BatchContext& c) {
  std::vector<Tensor> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) inputs.push_back(c.with_batch(i));
  c.set_all(rw::apply(c.op(), inputs, c.attrs()));
}

// All inputs in the shape of the one with the most axes.
void spread_all(BatchContext& c) {
  int widest = 0;
  for (int i = 1; i < c.num_inputs(); ++i)
    if (c.rank(i) > c.rank(widest)) widest = i;
  Sizes sizes = element_sizes(c, widest);
  sizes.insert(sizes.begin(), c.batch());
  std::vector<Tensor> inputs;
  for (int i = 0; i < c.num_inputs(); ++i)
    inputs.push_back(broadcast_sizes(c.aligned(i, c.rank(widest)), sizes));
  c.set_all(rw::apply(c.op(), inputs, c.attrs()));
}

// A condition of one axis chooses whole rows.
void select_rule(BatchContext& c) {
  Sizes rows = sizes_of(c.input(0));
  const int rank = c.rank(1);
  if (c.rank(0) == 1 || c.batched(0))
    while (int(rows.size()) - (c.batched(0) ? 1 : 0) < rank) rows.emplace_back(1);
  const Tensor condition = reshape_sizes(c.input(0), rows);
  const Tensor x = c.with_batch(1);
  const Tensor y = c.with_batch(2);
  c.set(0, apply_one(RW_OP("SelectV2"), {&condition, &x, &y}));
}

}  // namespace

void register_binary_batching() {
  for (const char* op : {"AddN", "ApproximateEqual", "ReluGrad", "Relu6Grad", "LeakyReluGrad", "EluGrad",
                         "SeluGrad", "SoftplusGrad", "SoftsignGrad", "SigmoidGrad", "TanhGrad", "SqrtGrad",
                         "RsqrtGrad", "ReciprocalGrad", "InvGrad"})
    register_batching(op, batch_all);
  for (const char* op : {"ClipByValue", "Betainc"}) register_batching(op, spread_all);
  register_batching("AccumulateNV2", [](BatchContext& c) {
    std::vector<Tensor> inputs;
    for (int i = 0; i < c.num_inputs(); ++i) inputs.push_back(c.with_batch(i));
    c.set(0, rw::apply(RW_OP("AddN"), inputs)[0]);
  });
  register_batching("Select", select_rule);
}

}  // namespace rw
