#include "rewind/autodiff/batching.h"

namespace rw {

// The rules of If, While and calls are in function/.
void register_control_batching() {}

}  // namespace rw
