// Batching of the conversions that are not elementwise; the batch stays in front.
#include "rewind/autodiff/batching.h"
#include "rewind/tensor/apply.h"

namespace rw {

void register_unary_batching() {
  register_batching("IdentityN", [](BatchContext& c) {
    for (int i = 0; i < c.num_inputs(); ++i) c.set(i, c.with_batch(i));
  });
  register_batching("Bitcast",
                    [](BatchContext& c) { c.set(0, apply_one(c.op(), {&c.input(0)}, c.attrs())); });
}

}  // namespace rw
