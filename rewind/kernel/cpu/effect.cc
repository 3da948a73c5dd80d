#include "rewind/kernel/kernel.h"

namespace rw {

void register_effect_cpu_kernels() {}

}  // namespace rw
