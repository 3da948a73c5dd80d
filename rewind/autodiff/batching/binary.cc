// Batching of the elementwise ops that do not broadcast, or whose inputs have different roles. The others
// need no rule.
#include <algorithm>

#include "rewind/autodiff/batching.h"
#include "rewind/tensor/apply.h"

namespace rw {
namespace {

// Input i with the batch in front, spread to this shape (without the batch).
Tensor spread(const BatchContext& c, int i, const Shape& shape) {
  const Tensor t = c.batched(i) ? c.aligned(i, shape.rank()) : c.input(i);
  Shape full = shape;
  full.insert(0, c.batch_size());
  if (t.shape() == full) return t;
  const Tensor dims = constant(full.begin(), Shape{full.rank()});
  return apply_one(RW_OP("BroadcastTo"), {&t, &dims});
}

Shape shape_of(const BatchContext& c, int i) {
  Shape shape = c.input(i).shape();
  if (c.batched(i)) shape.erase(0);
  return shape;
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
  const Shape shape = shape_of(c, widest);
  std::vector<Tensor> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) inputs.push_back(spread(c, i, shape));
  c.set_all(rw::apply(c.op(), inputs, c.attrs()));
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
  register_batching("Select", [](BatchContext& c) {
    const Shape shape = shape_of(c, 1);
    Shape rows = c.input(0).shape();
    if (c.rank(0) == 1)
      while (rows.rank() - (c.batched(0) ? 1 : 0) < shape.rank()) rows.append(1);
    if (c.rank(0) == 0 && c.batched(0))
      while (rows.rank() - 1 < shape.rank()) rows.append(1);
    const Tensor dims = constant(rows.begin(), Shape{rows.rank()});
    const Tensor condition = apply_one(RW_OP("Reshape"), {&c.input(0), &dims});
    const Tensor x = c.with_batch(1);
    const Tensor y = c.with_batch(2);
    c.set(0, apply_one(RW_OP("SelectV2"), {&condition, &x, &y}));
  });
}

}  // namespace rw
