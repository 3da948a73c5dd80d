// Which node must wait for which, though no value flows between them: what the order of the list says about
// effects, for a format that has no order. The rule is that of automatic control dependencies: nodes that
// touch the same resource keep their order, where reads among themselves need none; other effects keep their
// order among themselves.
#pragma once

#include <vector>

#include "rewind/graph/graph.h"

namespace rw {

// One list a node: the earlier nodes it waits for, ascending.
std::vector<std::vector<NodeId>> control_edges(const Graph& graph);

}  // namespace rw
