// A budget kept: chooses among a graph's plans.
#pragma once

#include <memory>

#include "rewind/compiler/memory/memory_report.h"
#include "rewind/graph/graph.h"

namespace rw {

// Rewrites the graph so that the whole library, with this graph running, takes at most `budget` bytes; 0 asks
// for the report alone. Throws ResourceExhaustedError, which names the smallest budget that works, when there
// is no plan. Requires known shapes for a promise; values of unknown size are not counted.
std::shared_ptr<const MemoryReport> keep_budget(Graph* graph, int64_t budget);

// The plan of the function that was planned last; nullptr while there is none. Any thread.
void set_last_memory_report(std::shared_ptr<const MemoryReport> report);
std::shared_ptr<const MemoryReport> last_memory_report();

}  // namespace rw
