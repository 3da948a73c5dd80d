#include "rewind/autodiff/rule.h"

namespace rw {

void register_state_gradients() {}

}  // namespace rw
