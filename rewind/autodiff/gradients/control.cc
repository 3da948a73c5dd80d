#include "rewind/autodiff/rule.h"

namespace rw {

// The rules of If, While and calls trace their bodies: they are in function/.
void register_control_gradients() {}

}  // namespace rw
