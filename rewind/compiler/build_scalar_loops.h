// Loops and branches on scalars as native code: a While or If whose variables are single numbers, and arrays
// only as something to pick elements from, becomes one kernel.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rewind/compiler/loop/ir.h"
#include "rewind/graph/graph.h"

namespace rw {

struct ScalarLoops {
  loop::Kernel kernel;  // buffers: the node's inputs, then those of its outputs that `writes` names
  std::vector<size_t> writes;
  std::vector<std::string> failures;  // by status - 1
};

// nullopt when the node holds anything else.
std::optional<ScalarLoops> build_scalar_loops(const Graph& graph, const Node& node);

}  // namespace rw
