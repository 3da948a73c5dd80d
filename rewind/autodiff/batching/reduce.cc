// Batching of reductions and scans: the axes move one to the right, those counted from the end stay.
#include <vector>

#include "rewind/autodiff/batching.h"
#include "rewind/tensor/apply.h"

namespace rw {
namespace {

void move_axes(BatchContext& c) {
  if (c.batched(1) || !value_known(c.input(1))) return batch_by_loop(c);
  std::vector<int64_t> list = known_ints(c.input(1));
  for (int64_t& a : list) a += a >= 0;
  const Tensor axes = constant(list, c.input(1).shape(), c.input(1).dtype());
  const Tensor x = c.with_batch(0);
  c.set(0, apply_one(c.op(), {&x, &axes}, c.attrs()));
}

}  // namespace

void register_reduce_batching() {
  for (const char* op : {"Sum", "Mean", "Prod", "Max", "Min", "Any", "All", "EuclideanNorm", "ArgMax",
                         "ArgMin", "Cumsum", "Cumprod", "CumulativeLogsumexp"}) {
    register_batching(op, move_axes);
  }
}

}  // namespace rw
