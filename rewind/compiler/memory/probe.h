// How much scratch memory a node's kernel takes. Kernels say so only when they run, so each is run once on
// zeros; the answers are kept for the life of the process.
#pragma once

#include "rewind/graph/graph.h"

namespace rw {

// Bytes, rounded as the arena rounds each piece. 0 for nodes that no kernel runs, or that have state.
int64_t scratch_of(const Graph& graph, const Node& node);

}  // namespace rw
