// Unary elementwise kernels: the loops of isa/unary.cc.
#include "rewind/kernel/cpu/elementwise.h"

namespace rw {

void register_unary_cpu_kernels() { register_unary_loops(); }

}  // namespace rw
