// Parts of the conv family's kernels that have files of their own.
#pragma once

namespace rw {

void register_pool_cpu_kernels();
void register_resize_cpu_kernels();

}  // namespace rw
