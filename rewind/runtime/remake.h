// Eager ops on values whose memory comes and goes, and ops that are written down so that their results may.
#pragma once

#include "rewind/runtime/eager.h"

namespace rw {

// As run_eager. `remember`: the call is written down where it may be repeated.
ValueList run_movable(const Op& op, const Attrs& attrs, std::span<const Value* const> inputs, bool remember);

class Touched;
// Writes down a call that was just run, and lets go of what it read.
void write_down(const Op& op, const Attrs& attrs, std::span<const Value* const> inputs,
                std::span<Value> outputs, Touched& touched);

}  // namespace rw
