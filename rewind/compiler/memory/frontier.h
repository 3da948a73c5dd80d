// All plans of a graph, from the one that runs every step once to the one that needs least memory.
#pragma once

#include <memory>
#include <vector>

#include "rewind/compiler/memory/schedule.h"

namespace rw {

struct FrontierPlan {
  Schedule::Packed schedule;
  int64_t arena_bytes = 0;  // with every block at its offset, and scratch memory
  int64_t owned_bytes = 0;  // the most that blocks outside the arena take together
  int64_t bytes = 0;        // both, as the allocator counts them
  double extra_cost = 0;    // of second runs
};

struct Frontier {
  PlanProblem problem;
  double base_cost = 0;             // of every step once
  int64_t lower_bound = 0;          // the most that one step reads and writes: no plan needs less
  std::vector<FrontierPlan> plans;  // each needs less memory than the one before and costs more

  // The cheapest plan that takes at most so much; nullptr when there is none.
  const FrontierPlan* find(int64_t bytes) const;
};

std::shared_ptr<const Frontier> memory_frontier(const Graph& graph);

// What a schedule takes; the schedule itself is left out.
FrontierPlan measure_plan(const PlanProblem& problem, const Schedule& schedule);

// The graph with the plan's second runs in their places, which `again` tells.
Graph apply_plan(const Graph& graph, const PlanProblem& problem, const Schedule& schedule,
                 std::vector<NodeId>* again);

}  // namespace rw
