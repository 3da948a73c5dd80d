#include "rewind/saved/tracked.h"

#include "rewind/base/error.h"

namespace rw::train {

void Tracked::take(std::vector<TrackableChild> found) {
  if (found.empty())
    fail_invalid(
        "Checkpoint",
        "expected a variable, module, layer, model, optimizer, metric, generator, iterator or checkpoint, or "
        "a list or map of these: got something that keeps no state, or an undefined variable");
  view_ = std::move(found.front().object);
}

}  // namespace rw::train
