// Einsum's kernel.
#pragma once

namespace rw {

void register_einsum_cpu_kernels();

}  // namespace rw
