// Shape rules that several families share, beside the general ones of op.h.
#pragma once

#include "rewind/op/op.h"

namespace rw {

// Output 0 has the sizes that input 0, a list of integers, holds.
void sizes_from_input(ShapeContext& ctx);

}  // namespace rw
