#include "rewind/autodiff/batching.h"

namespace rw {

// The rules of If, While and calls are in function/.
void register_control_batching() {
  // Tapes around the batch heard the op itself; what is left of it are its results.
  for (const char* op : {"_CustomGradient", "_Recompute", "_Given"})
    register_batching(op, [](BatchContext& c) {
      for (int i = 0; i < c.num_outputs(); ++i) c.set(i, c.with_batch(i));
    });
}

}  // namespace rw
