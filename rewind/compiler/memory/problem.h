// What a memory planner sees of a graph: steps that read and write blocks of bytes. Values that share memory
// are one block; arguments, constants and variables are no blocks: they are there anyway.
#pragma once

#include <cstdint>
#include <vector>

#include "rewind/graph/graph.h"

namespace rw {

struct PlanBlock {
  int64_t bytes = 0;   // rounded as the arena rounds
  ValueId value = -1;  // the first value in this memory
  int maker = -1;      // step
  bool owned = false;  // has memory of its own, outside the arena: results, what eager steps touch
};

struct PlanStep {
  NodeId node = -1;  // -1 for the end, which reads what the graph returns
  double cost = 0;
  int64_t scratch = 0;  // bytes while it runs
  bool again = false;   // may run a second time
  bool trims = false;   // a second run may leave outputs out
  int latest = -1;  // a second run must come before this step, which writes a variable that this one reads
  std::vector<int> reads, writes;  // blocks
  // Where it trims: by write, the reads (by position) that this output alone needs.
  std::vector<std::vector<int>> needs;
};

struct PlanProblem {
  std::vector<PlanStep> steps;  // in the graph's order; nodes that only rename memory have none
  std::vector<PlanBlock> blocks;
  std::vector<int> block_of;  // by value; -1 where there is none
};

// Requires a pruned graph. Values whose size is unknown count as nothing.
PlanProblem plan_problem(const Graph& graph);

}  // namespace rw
