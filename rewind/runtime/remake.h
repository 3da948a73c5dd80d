// Eager ops on values whose memory comes and goes, and ops that are written down so that their results may.
#pragma once

#include "rewind/runtime/eager.h"

namespace rw {

// As run_eager. `remember`: the call is written down where it may be repeated.
ValueList run_movable(const Op& op, const Attrs& attrs, std::span<const Value* const> inputs, bool remember);

}  // namespace rw
