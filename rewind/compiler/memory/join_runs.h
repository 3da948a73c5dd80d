// Second runs of elementwise groups that join a group of the backward pass over the same elements: an
// activation is made again where its derivative reads the same input, in one pass over memory.
#pragma once

#include <vector>

#include "rewind/graph/graph.h"

namespace rw {

struct JoinedRun {
  NodeId again;   // the second run, which goes
  NodeId into;    // the group that makes its results too
  NodeId before;  // the first reader of the results: the joined group stands in front of it
};

// Pairs that can be joined, each node in one of them at most. `again`: the second runs.
std::vector<JoinedRun> find_joins(const Graph& graph, const std::vector<NodeId>& again);
// The graph with these pairs joined. Results have the same bits.
Graph join_runs(const Graph& graph, const std::vector<JoinedRun>& joins);

}  // namespace rw
