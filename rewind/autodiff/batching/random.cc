// Batching of the stateful random ops: every element of a batch gets numbers of its own. Stateless ones are
// functions of their seeds; they have no rule and run once a seed.
#include "rewind/autodiff/batching/fold.h"

namespace rw {
namespace {

void draw_for_all(BatchContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i)
    if (c.batched(i)) return batch_by_loop(c);
  const Tensor batch = dims_tensor(Sizes{c.batch()}, c.input(0).dtype());
  const Tensor axis = constant(0);
  std::vector<Tensor> inputs{apply_one(RW_OP("ConcatV2"), {&batch, &c.input(0), &axis})};
  for (int i = 1; i < c.num_inputs(); ++i) inputs.push_back(c.input(i));
  c.set_all(rw::apply(c.op(), inputs, c.attrs()));
}

void draw_classes(BatchContext& c) {
  if (c.batched(1)) return batch_by_loop(c);
  const Tensor logits = fold_first(c.with_batch(0));
  c.set(0, unfold_first(apply_one(c.op(), {&logits, &c.input(1)}, c.attrs()), c.batch()));
}

}  // namespace

void register_random_batching() {
  for (const char* op : {"RandomUniform", "RandomUniformInt", "RandomStandardNormal", "TruncatedNormal"})
    register_draw_batching(op, draw_for_all);
  register_draw_batching("Multinomial", draw_classes);
  register_draw_batching("RandomShuffle", batch_by_loop);
}

}  // namespace rw
