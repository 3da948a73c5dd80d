// Runtime kernels of the state ops: variables are read and replaced as whole values.
#pragma once

namespace rw {

void register_state_runtime_kernels();

}  // namespace rw
