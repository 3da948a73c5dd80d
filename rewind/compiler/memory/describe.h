// Values and nodes in the user's words, for reports and refusals.
#pragma once

#include <string>

#include "rewind/graph/graph.h"

namespace rw {

// The ops that make a value: its op, or what was fused to make it ("MatMul + AddV2 + Tanh").
std::string made_by(const Graph& graph, ValueId value);
// The user's line that asked for it; empty where none is known.
std::string line_of(const Graph& graph, ValueId value);
// "float32(2, 3)".
std::string type_of(const GraphValue& value);
// Looks up the lines of all nodes at once: one by one they take a run of the symbolizer each.
void find_lines_ahead(const Graph& graph);

}  // namespace rw
