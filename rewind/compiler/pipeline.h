// From a traced graph to a Program: one list of passes, each with a timer and a dump.
#pragma once

#include <memory>
#include <span>

#include "rewind/graph/graph.h"
#include "rewind/runtime/program.h"

namespace rw {

// Compiles the graph for arguments of these shapes. REWIND_DUMP=dir writes the graph after every pass.
std::shared_ptr<const Program> compile(const Graph& graph, std::span<const Shape> arguments);

}  // namespace rw
