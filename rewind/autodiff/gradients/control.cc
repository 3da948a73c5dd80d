#include "rewind/autodiff/rule.h"

namespace rw {

// The rules of If, While and calls trace their bodies: they are in function/. Fused groups come up behind
// differentiation.
void register_control_gradients() { register_not_differentiable("_Fused"); }

}  // namespace rw
