// The one list of op families. Each has a file in op/ (rows and shape rules), in kernel/cpu/ (kernels), in
// autodiff/gradients/ and autodiff/batching/ (rules), and in tensor/ops/ (public functions).
// And the rooms that have rules for the rows; each puts them there.
#pragma once

#define RW_OP_FAMILIES(X) \
  X(creation)             \
  X(random)               \
  X(unary)                \
  X(binary)               \
  X(reduce)               \
  X(matmul)               \
  X(linalg)               \
  X(shape)                \
  X(gather)               \
  X(conv)                 \
  X(nn)                   \
  X(training)             \
  X(string)               \
  X(state)                \
  X(control)              \
  X(list)                 \
  X(effect)

namespace rw {

void register_kernel_rules();
void register_runtime_rules();
void register_autodiff_rules();
// Not linked into a program that makes no functions and no control flow: see function/control_rules.h.
[[gnu::weak]] void register_function_rules();
void register_data_rules();

}  // namespace rw
