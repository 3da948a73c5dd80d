// Runtime kernels of lists of tensors, and of sums and zeros of lists: they share elements' storage.
#pragma once

namespace rw {

void register_list_runtime_kernels();

}  // namespace rw
