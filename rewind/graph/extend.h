// A node becomes a larger one in its place: derivatives ask control flow for values from inside its bodies.
#pragma once

#include <span>
#include <vector>

#include "rewind/graph/graph.h"

namespace rw {

struct NodeExtension {
  const Op* op = nullptr;
  Attrs attrs;
  std::vector<ValueId> inputs;  // behind the node's own
  std::vector<DType> dtypes;    // of the further outputs
  std::vector<Shape> shapes;
};

// Gives the new outputs. Nodes behind it that make the new inputs move in front of it; they must have no
// effects and not depend on it. `marks` are positions in the list of nodes: each stays between the nodes it
// was between, and what moves over it moves it. Values keep their ids, nodes do not.
std::vector<ValueId> extend_node(Graph& graph, NodeId id, const NodeExtension& extension,
                                 std::span<size_t> marks = {});

}  // namespace rw
