// Creation ops have no derivative, but for the value that Fill spreads.
#include "rewind/autodiff/rule.h"

namespace rw {

void register_creation_gradients() {
  register_gradient("Fill", kNeedsNothing, [](GradContext& g) {
    if (g.wants(1)) g.set(1, sum_to_input(g.grad(), g, 1));
  });
  for (const char* op : {"Const", "Empty", "OnesLike", "ZerosLike", "Range", "LinSpace", "OneHot"})
    register_not_differentiable(op);
}

}  // namespace rw
