// What a node takes to run, by a model of its work: the same on every machine and in every run, so that
// plans are too.
#pragma once

#include "rewind/graph/graph.h"

namespace rw {

// Microseconds, roughly. The shapes must be known.
double cost_of(const Graph& graph, const Node& node);

}  // namespace rw
