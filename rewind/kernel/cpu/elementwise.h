// Elementwise kernels: shapes, broadcasting and threads around the loops of isa/.
#pragma once

#include <initializer_list>
#include <string_view>

#include "rewind/kernel/cpu/isa/isa.h"
#include "rewind/kernel/kernel.h"

namespace rw {

// The loops of one op, by the dtype of its (first) input; null where it has none.
template <class Loop>
struct LoopsOf {
  Loop by_dtype[24] = {};
};
using UnaryLoops = LoopsOf<UnaryLoop>;
using BinaryLoops = LoopsOf<BinaryLoop>;
using TernaryLoops = LoopsOf<TernaryLoop>;

// The loops of an op in the chosen instruction set; they live for ever. nullptr when it has none.
const UnaryLoops* unary_loops_of(std::string_view op);
const BinaryLoops* binary_loops_of(std::string_view op);
const TernaryLoops* ternary_loops_of(std::string_view op);

// Register every row of the chosen instruction set whose op is in the op table.
void register_unary_loops();
void register_binary_loops();
void register_ternary_loops();

// Runs a loop over whole arrays, the inputs broadcast to the output's shape, on several threads.
void run_unary_loop(UnaryLoop loop, const View& x, const View& out);
void run_binary_loop(BinaryLoop loop, const View& x, const View& y, const View& out);
void run_ternary_loop(TernaryLoop loop, const View& x, const View& y, const View& z, const View& out);

// How arrays are walked when they are broadcast to one shape: axes along which all inputs keep their kind
// (stepping or standing still) are one. Strides are in elements.
struct BroadcastWalk {
  static constexpr int kMaxInputs = 3;
  SmallVector<int64_t, 6> dims;  // collapsed, outermost first; at least one
  SmallVector<int64_t, 6> strides[kMaxInputs];
  int num_inputs = 0;
};
BroadcastWalk plan_walk(std::initializer_list<const Shape*> inputs, const Shape& out);

// The same for two inputs.
struct BroadcastPlan {
  SmallVector<int64_t, 6> dims;
  SmallVector<int64_t, 6> x_strides, y_strides;
};
BroadcastPlan plan_broadcast(const Shape& x, const Shape& y, const Shape& out);

// Elements a thread should at least have.
inline constexpr int64_t kElementwiseGrain = 16384;

}  // namespace rw
