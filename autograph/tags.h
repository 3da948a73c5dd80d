// What headers define stands in many files, converted in some and plain in others. Converted functions carry
// an ABI tag, and so do classes whose table of virtual functions would hold them or whose operators they are,
// and whatever in a header names one of these, so that the linker does not take one for the other.
#pragma once

#include "edits.h"
#include "functions.h"

namespace rw::autograph_tool {

void tag_functions(const Source& source, const std::vector<Function>& functions,
                   const std::vector<bool>& converted, std::map<clang::FileID, Edits>& edits);

}  // namespace rw::autograph_tool
