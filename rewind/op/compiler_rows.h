// Rows that only the compiler calls, with attributes that it has proved: kernels believe them.
#pragma once

#include "rewind/op/op.h"

namespace rw {

bool is_compiler_row(const Op& op);
// Throws InvalidArgumentError for such a row: for calls that come from outside, by name or from a file.
void refuse_compiler_row(const Op& op);

}  // namespace rw
