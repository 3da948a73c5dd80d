// Where values lie in a program's arena: two values share bytes only if their lives do not meet.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rw {

struct Lifetime {
  int64_t bytes = 0;
  int32_t first = 0;  // the instruction that writes it
  int32_t last = 0;   // the last that reads it; at least `first`
};

struct MemoryPlan {
  std::vector<int64_t> offsets;  // one per lifetime, multiples of 64
  int64_t bytes = 0;             // of the arena
};

// What a value of so many bytes takes in the arena.
int64_t arena_rounded(int64_t bytes);

// Does not depend on the order of the lives.
MemoryPlan plan_memory(std::span<const Lifetime> lives);

}  // namespace rw
