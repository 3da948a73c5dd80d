// Elementwise kernels: shapes, broadcasting and threads around the loops of isa/.
#pragma once

#include "rewind/kernel/cpu/isa/isa.h"
#include "rewind/kernel/kernel.h"

namespace rw {

struct UnaryLoops {
  UnaryLoop by_dtype[24] = {};
};
struct BinaryLoops {
  BinaryLoop by_dtype[24] = {};
};

// Register every row of the chosen instruction set whose op is in the op table.
void register_unary_loops();
void register_binary_loops();

// Walks two arrays broadcast to one shape: calls inner(x, x_step, y, y_step, out, n) for runs along the innermost
// collapsed axis, on several threads. Offsets are in elements.
struct BroadcastPlan {
  SmallVector<int64_t, 6> dims;  // collapsed, outermost first
  SmallVector<int64_t, 6> x_strides, y_strides;
};
BroadcastPlan plan_broadcast(const Shape& x, const Shape& y, const Shape& out);

// Elements a thread should at least have.
inline constexpr int64_t kElementwiseGrain = 16384;

}  // namespace rw
