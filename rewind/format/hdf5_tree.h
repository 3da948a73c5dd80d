// B-trees of version 2: sorted records of one size.
#pragma once

#include <functional>

#include "rewind/format/hdf5_bytes.h"

namespace rw::format::hdf5 {

// Calls with each record, in order.
void walk_tree2(const Image& image, uint64_t address, const std::function<void(Cursor& record)>& f);

}  // namespace rw::format::hdf5
