// Groups over the same elements that run tile by tile: all of them for some hundred elements, then for the
// next. What only they read exists for one tile a thread, and stays in its cache.
#pragma once

#include <cstdint>
#include <vector>

#include "rewind/graph/graph.h"

namespace rw {

// Where the values between the groups of a _Tiles body lie in a thread's memory.
struct TilePlan {
  std::vector<int64_t> offsets;  // by value; -1: an argument, or given out
  int64_t bytes = 0;
};
TilePlan plan_tile(const Graph& body, int64_t block);

// The memory that a _Tiles node takes for all threads.
int64_t tile_bytes(const Node& node);

}  // namespace rw
