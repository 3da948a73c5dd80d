// Constants of graphs as values and back. Both ways share the memory.
#pragma once

#include "rewind/op/attrs.h"
#include "rewind/runtime/storage.h"

namespace rw {

Value as_value(const HostTensor& constant);
HostTensor as_constant(const Value& value);

}  // namespace rw
