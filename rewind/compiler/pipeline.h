// From a traced graph to a Program: one list of passes, each with a timer and a dump.
#pragma once

#include <memory>
#include <span>

#include "rewind/compiler/memory/memory_report.h"
#include "rewind/graph/graph.h"
#include "rewind/runtime/program.h"

namespace rw {

// Compiles the graph for arguments of these shapes. With a budget in bytes (0: none) it recomputes what it
// must to stay inside, or throws ResourceExhaustedError: see memory/budget.h. REWIND_DUMP=dir writes the
// graph after every pass.
std::shared_ptr<const Program> compile(const Graph& graph, std::span<const Shape> arguments,
                                       int64_t budget = 0);
// What it would take without a budget.
std::shared_ptr<const MemoryReport> explain_memory(const Graph& graph, std::span<const Shape> arguments);

}  // namespace rw
