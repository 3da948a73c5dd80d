// From a graph to a Program: who runs each node, where each value lies.
#pragma once

#include <memory>
#include <string>

#include "rewind/graph/graph.h"
#include "rewind/runtime/program.h"

namespace rw {

// With `scratch_in_arena`, the scratch memory of kernels is part of the plan; otherwise it comes as they ask.
// `loops`, if given, gets the loop IR of every native kernel, by the number of its instruction.
std::shared_ptr<Program> lower(const Graph& graph, bool scratch_in_arena = false,
                               std::string* loops = nullptr);

}  // namespace rw
