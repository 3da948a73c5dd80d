#include "rewind/kernel/kernel.h"

namespace rw {

void register_string_cpu_kernels() {}

}  // namespace rw
