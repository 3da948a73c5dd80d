#include "rewind/autodiff/batching.h"

namespace rw {

// The rules of If, While and calls are in function/.
void register_control_batching() {
  // Tapes around the batch heard the op itself; what is left of it are its results.
  register_batching("_CustomGradient", [](BatchContext& c) {
    for (int i = 0; i < c.num_outputs(); ++i) c.set(i, c.with_batch(i));
  });
}

}  // namespace rw
