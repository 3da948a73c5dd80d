// Binary elementwise kernels: the loops of isa/binary.cc.
#include "rewind/kernel/cpu/elementwise.h"

namespace rw {

void register_binary_cpu_kernels() { register_binary_loops(); }

}  // namespace rw
