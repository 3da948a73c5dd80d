// The counters of the stateful random ops: one stream for each op and pair of seeds, and one, seeded by the
// machine, for all calls without seeds. Thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

#include "rewind/base/dtype.h"

namespace rw {

// Blocks of the generator that a draw of one element may use up: what stateful ops skip per element.
inline constexpr uint64_t kReservedBlocks = 256;

struct RandomStream {
  uint64_t key = 0;
  uint64_t low = 0, high = 0;  // counter
};

// The state of a stream now; the stream goes on by `blocks`. Both seeds 0: the machine's own stream.
RandomStream reserve_random(std::string_view op, DType dtype, int64_t seed, int64_t seed2, uint64_t blocks);
// The next call with these seeds starts afresh.
void forget_random(std::string_view op, DType dtype, int64_t seed, int64_t seed2);
void forget_all_random();

}  // namespace rw
