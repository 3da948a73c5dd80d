#include "rewind/kernel/kernel.h"

namespace rw {

// Control flow runs in the runtime itself: runtime/control_ops.cc.
void register_control_cpu_kernels() {}

}  // namespace rw
