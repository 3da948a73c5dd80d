// A graph as a drawing: text for Graphviz (`dot -Tsvg`).
#pragma once

#include <string>

#include "rewind/graph/graph.h"

namespace rw {

// One box a node with its name, its op, and the types and shapes of its outputs; one ellipse an argument or
// an output. Functions in attributes are clusters beside their node. Values are solid arrows, the order of
// effects dashed ones.
std::string to_dot(const Graph& graph);

}  // namespace rw
