// Parts of the nn family's kernels that have files of their own.
#pragma once

namespace rw {

void register_batch_norm_cpu_kernels();
void register_lrn_cpu_kernels();
void register_attention_cpu_kernels();

}  // namespace rw
