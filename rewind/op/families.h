// The one list of op families. Each has a file in op/ (rows and shape rules), in kernel/cpu/ (kernels), in
// autodiff/gradients/ and autodiff/batching/ (rules), and in tensor/ops/ (public functions).
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
