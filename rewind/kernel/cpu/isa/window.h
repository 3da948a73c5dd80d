// Loops over runs of channels, for depthwise convolutions and pools: `count` runs of `n` elements, `step`
// elements from one to the next (0: the same run each time). Outputs do not overlap inputs.
#pragma once

#include <cstdint>

namespace rw {

struct RunSteps {
  int64_t count, n;
  int64_t x, y, out;  // steps
};

using RunLoop2 = void (*)(const void* x, void* out, RunSteps steps);
using RunLoop3 = void (*)(const void* x, const void* y, void* out, RunSteps steps);

// By dtype; null where there is none.
struct WindowLoops {
  RunLoop3 multiply_add[24];  // out += x * y
  RunLoop2 add[24];           // out += x
  RunLoop2 maximum[24];       // out = max(out, x); a NaN stays
};

}  // namespace rw
