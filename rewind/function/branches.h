// The functions of If, Case and calls as one list.
#pragma once

#include <vector>

#include "rewind/op/op.h"

namespace rw {

enum class BranchRow { kIf, kCase, kCall };
BranchRow row_of(const Op& op);

std::vector<BodyRef> branches_of(const Op& op, const Attrs& attrs);
// The attributes with other functions, which give results of these types.
Attrs with_branches(const Op& op, const Attrs& attrs, const std::vector<BodyRef>& branches,
                    const std::vector<DType>& types);

}  // namespace rw
