// From a graph to a Program: who runs each node, where each value lies.
#pragma once

#include <memory>
#include <string>

#include "rewind/graph/graph.h"
#include "rewind/runtime/program.h"

namespace rw {

// `loops`, if given, gets the loop IR of every native kernel, by the number of its instruction.
std::shared_ptr<const Program> lower(const Graph& graph, std::string* loops = nullptr);

}  // namespace rw
