#include "rewind/kernel/kernel.h"

namespace rw {

void register_gather_cpu_kernels() {}

}  // namespace rw
