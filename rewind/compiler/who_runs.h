// Who runs a node of a compiled graph: known before lowering, so that planners can count on it.
#pragma once

#include "rewind/graph/graph.h"

namespace rw {

enum class Runs : uint8_t {
  kAlias,     // nobody: the output is the input under another shape
  kConstant,  // nobody: it is there
  kKernel,    // a kernel on views
  kRead,      // a variable's snapshot
  kAssign,    // a variable's new value
  kEager,     // the eager executor, on values
  kNative,    // machine code
  kRows,      // a kernel with machine code behind its rows
  kTiles,     // machine code, many kernels block by block
};

Runs who_runs(const Graph& graph, const Node& node);

}  // namespace rw
