#include "rewind/kernel/kernel.h"

namespace rw {

void register_nn_cpu_kernels() {}

}  // namespace rw
