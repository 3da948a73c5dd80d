// Which rows of the op table are the library's.
#pragma once

#include "rewind/op/op.h"

namespace rw {

// False for rows that the program added.
bool is_library_row(const Op& op);

}  // namespace rw
