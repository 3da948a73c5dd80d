#include "rewind/kernel/cpu/linalg.h"

namespace rw {

void register_linalg_cpu_kernels() {
  register_linalg_diag_cpu_kernels();
  register_linalg_solve_cpu_kernels();
  register_linalg_factor_cpu_kernels();
}

}  // namespace rw
