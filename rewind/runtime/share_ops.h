// Share rules of slices, splits and unstacks: a part that lies in one piece is a view of the whole's memory.
// Small parts are copied all the same: a view would keep the whole alive, and make writes to a variable copy
// it.
#pragma once

#include <cstdint>
#include <span>

#include "rewind/runtime/storage.h"

namespace rw {

void register_share_rules();

// x[places[0], places[1], ...] of a settled value in host memory: what StridedSlice gives, without the op's
// way. False where that is needed: for a place that is not there, for objects, or for devices.
bool take_block(const Value& x, std::span<const int64_t> places, Value* block);

}  // namespace rw
