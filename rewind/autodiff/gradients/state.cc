// Gradients of reads of variables: they flow to the handle.
#include "rewind/autodiff/rule.h"

namespace rw {

void register_state_gradients() {
  register_gradient("ReadVariableOp", kNeedsNothing, [](GradContext& g) { g.set(0, g.raw_grad()); });
}

}  // namespace rw
