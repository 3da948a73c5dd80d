// The one list of op families. Each has a file in op/ (rows and shape rules), in kernel/cpu/ (kernels), in
// autodiff/gradients/ and autodiff/batching/ (rules), and in tensor/ops/ (public functions).
// And of the rooms that have rules for the rows, in which each register_<room>_rules() puts them there.
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

#define RW_ROOMS_WITH_RULES(X) \
  X(kernel)                    \
  X(runtime)                   \
  X(autodiff)                  \
  X(function)                  \
  X(data)

namespace rw {
#define RW_DECLARE(room) void register_##room##_rules();
RW_ROOMS_WITH_RULES(RW_DECLARE)
#undef RW_DECLARE
}  // namespace rw
