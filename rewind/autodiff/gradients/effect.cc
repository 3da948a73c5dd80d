// Effects: only a check passes gradients on, and checks them too.
#include "rewind/autodiff/rule.h"
#include "rewind/tensor/apply.h"

namespace rw {

void register_effect_gradients() {
  for (const char* op : {"CheckNumerics", "CheckNumericsV2"}) {
    register_gradient(op, kNeedsNothing, [](GradContext& g) {
      const std::string message = "Not a number (NaN) or infinity (Inf) values detected in gradient. " +
                                  g.attr<std::string>("message");
      g.set(0, apply_one(g.op(), {&g.grad()}, {{"message", message}}));
    });
  }
  for (const char* op : {"PrintV2", "Assert", "NoOp", "EagerPyFunc"}) register_not_differentiable(op);
}

}  // namespace rw
