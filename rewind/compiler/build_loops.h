// The loops of a fused group.
#pragma once

#include <optional>

#include "rewind/compiler/loop/ir.h"
#include "rewind/graph/graph.h"

namespace rw {

struct FusedLoops {
  loop::Kernel kernel;  // buffers: the body's arguments, then its outputs
  int64_t extent = 1;   // of the parallel loop
  int64_t grain = 1;    // iterations that are worth a thread
};

// nullopt when the group does not go into one nest of loops.
std::optional<FusedLoops> build_loops(const Graph& body);
// The same with one iteration of the parallel loop a row (the last axis), for elementwise groups. A result
// may lie in the memory of an argument of its type and shape.
std::optional<FusedLoops> build_row_loops(const Graph& body);

// The same for elementwise groups whose operands all have as many elements, or one: an iteration of the
// parallel loop is `block` elements, a divisor of their number.
std::optional<FusedLoops> build_flat_loops(const Graph& body, int64_t block);

}  // namespace rw
