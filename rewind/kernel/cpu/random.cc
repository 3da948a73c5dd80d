#include "rewind/kernel/kernel.h"

namespace rw {

void register_random_cpu_kernels() {}

}  // namespace rw
