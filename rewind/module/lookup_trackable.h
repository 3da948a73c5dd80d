// Lookup tables as objects of checkpoints: a table that changes has its keys and values there, under
// TensorFlow's names; a static one is made anew by the program, and has none.
#pragma once

#include "rewind/module/trackable.h"
#include "rewind/tensor/ops/lookup.h"

namespace rw::lookup {

TrackablePtr trackable_of(const MutableHashTable& table);
TrackablePtr trackable_of(const StaticHashTable& table);

}  // namespace rw::lookup
