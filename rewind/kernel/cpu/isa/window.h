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
// Where x is above best: best = x, taps = tap. Both step by steps.out.
using ArgmaxLoop = void (*)(const void* x, void* best, int32_t* taps, int32_t tap, RunSteps steps);
// For elements whose taps (steps.y) are `tap`.
using RouteLoop = void (*)(const void* x, const int32_t* taps, int32_t tap, void* out, RunSteps steps);

// By dtype; null where there is none.
struct WindowLoops {
  RunLoop3 multiply_add[24];  // out += x * y
  RunLoop2 add[24];           // out += x
  RunLoop2 maximum[24];       // out = max(out, x); a NaN never wins
  ArgmaxLoop argmax[24];
  RouteLoop route[24];  // out += x
  RouteLoop pick[24];   // out = x
};

}  // namespace rw
