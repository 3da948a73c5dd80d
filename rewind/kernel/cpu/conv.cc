#include "rewind/kernel/kernel.h"

namespace rw {

void register_conv_cpu_kernels() {}

}  // namespace rw
