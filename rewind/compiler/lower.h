// From a graph to a Program: who runs each node, where each value lies.
#pragma once

#include <memory>

#include "rewind/graph/graph.h"
#include "rewind/runtime/program.h"

namespace rw {

std::shared_ptr<const Program> lower(const Graph& graph);

}  // namespace rw
