// A part of the nn family's kernels that has files of its own.
#pragma once

namespace rw {

void register_batch_norm_cpu_kernels();
void register_lrn_cpu_kernels();

}  // namespace rw
