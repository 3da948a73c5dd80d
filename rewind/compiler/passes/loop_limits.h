// How often a loop runs, where its condition says so.
#pragma once

#include <vector>

#include "rewind/graph/graph.h"

namespace rw {

// For each comparison of a counter with a limit, all of which must hold: the loop variable that counts, the
// one that is the limit (-1: none), a number to add to the limit, and how far the counter goes in a step.
// Empty where the condition depends on anything else.
struct LoopLimits {
  std::vector<int64_t> counters, limits, numbers, strides;
};
LoopLimits limits_of(const Graph& cond, const Graph& body);

}  // namespace rw
