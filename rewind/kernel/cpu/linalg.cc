#include "rewind/kernel/kernel.h"

namespace rw {

void register_linalg_cpu_kernels() {}

}  // namespace rw
