// How many of their states the loops of a graph keep, next to a plan for the rest of it.
#pragma once

#include <vector>

#include "rewind/compiler/memory/frontier.h"
#include "rewind/compiler/memory/memory_report.h"

namespace rw {

class LoopBudget {
 public:
  explicit LoopBudget(const Graph& graph);

  struct Choice {
    const FrontierPlan* plan = nullptr;
    std::vector<int64_t> states;  // by loop
    int64_t bytes = 0;            // of all
    double extra_cost = 0;
  };
  // The cheapest of all plans, with as many states as it leaves room for. No plan: there is no room for any.
  Choice choose(const Frontier& frontier, int64_t bytes) const;
  // Every state kept, where the number of iterations is known.
  Choice free(const Frontier& frontier) const;
  // Choices that are worth their memory, the largest first.
  std::vector<Choice> curve(const Frontier& frontier) const;

  double base_cost() const { return base_cost_; }
  int64_t fewest_bytes() const;
  bool empty() const { return loops_.empty(); }
  std::vector<MemoryReport::Loop> describe(const Choice& choice) const;
  // Writes the numbers of states into the graph's loops.
  static void apply(Graph* graph, const Choice& choice);

 private:
  struct Loop {
    int64_t state_bytes = 0;
    int64_t steps = -1;  // -1: unknown
    double cost = 0;     // of an iteration
    std::string site;
  };
  Choice with(const FrontierPlan& plan, int64_t room) const;

  std::vector<Loop> loops_;
  int64_t fixed_ = 0;  // what the bodies need besides states
  double base_cost_ = 0;
};

}  // namespace rw
