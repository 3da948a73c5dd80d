#include "rewind/autodiff/rule.h"

namespace rw {

void register_effect_gradients() {}

}  // namespace rw
