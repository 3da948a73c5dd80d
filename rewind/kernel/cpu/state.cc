#include "rewind/kernel/kernel.h"

namespace rw {

void register_state_cpu_kernels() {}

}  // namespace rw
