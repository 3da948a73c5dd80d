// Batching rules of reads of variables' rows: the handle is one for all, so the batch is more indices.
#include "rewind/autodiff/batching.h"
#include "rewind/base/error.h"
#include "rewind/tensor/apply.h"

namespace rw {
namespace {

void more_indices(BatchContext& c) {
  if (c.batched(0)) fail_unimplemented(c.op().tag, "a batch of variables");
  if (c.op().find_attr("batch_dims") && c.attr<int64_t>("batch_dims") != 0)
    fail_unimplemented(c.op().tag, "batch_dims within vectorized_map");
  c.set(0, apply_one(c.op(), {&c.input(0), &c.input(1)}, c.attrs()));
}

}  // namespace

void register_state_batching() {
  register_batching("ResourceGather", more_indices);
  register_batching("ResourceGatherNd", more_indices);
}

}  // namespace rw
