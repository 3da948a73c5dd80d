#include "rewind/autodiff/batching.h"

namespace rw {

void register_effect_batching() {}

}  // namespace rw
