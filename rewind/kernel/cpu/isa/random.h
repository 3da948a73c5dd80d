// Loops of the random ops.
#pragma once

#include <cstdint>

namespace rw {

struct RandomLoops {};

}  // namespace rw
