#include "rewind/kernel/kernel.h"

namespace rw {

void register_shape_cpu_kernels() {}

}  // namespace rw
