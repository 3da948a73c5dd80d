// Calls of rows that no golden file calls: control flow, lists, versions without a kernel in TensorFlow, our
// own rows. Some are legal; a row nobody wrote a call for gets one that its text allows.
#pragma once

#include <vector>

#include "rewind/op/op.h"
#include "tests/support/case_io.h"

namespace rw::test {

std::vector<Case> row_cases(const Op& op);

}  // namespace rw::test
