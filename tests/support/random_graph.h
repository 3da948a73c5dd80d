// Random graphs: elementwise ops of all types, broadcasts, reductions, movements, products, state, random
// draws, branches, loops and calls; with duplicates, dead code, constants, empty and scalar tensors, outputs
// that are arguments or constants. The same seed gives the same graph.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "rewind/graph/graph.h"

namespace rw::test {

struct GraphCase {
  std::shared_ptr<const Graph> graph;
  std::vector<HostTensor> feeds;  // one an argument; a resource's is the variable's value
};

GraphCase random_graph(uint64_t seed);

// The same graph with nothing known of the arguments' sizes. Null when a function in it relies on them.
std::shared_ptr<const Graph> without_sizes(const Graph& graph);

// The smallest case found that still fails: outputs are dropped, and nodes, whose values become arguments.
GraphCase shrink(GraphCase c, const std::function<bool(const GraphCase&)>& fails);

// Elements of a type, small and large, some special.
HostTensor random_tensor(std::mt19937_64& rng, DType dtype, const Shape& shape);

}  // namespace rw::test
