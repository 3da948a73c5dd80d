// What of a graph runs: the nodes that an output or an effect needs.
#pragma once

#include <vector>

#include "rewind/graph/graph.h"

namespace rw {

struct Uses {
  std::vector<uint8_t> needed;  // by node
  std::vector<int32_t> count;   // by value: how often needed nodes read it, or the graph returns it
  explicit Uses(const Graph& graph);
};

}  // namespace rw
