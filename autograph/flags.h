// A compiler's command line as Clang's parser takes it.
#pragma once

#include <string>
#include <vector>

namespace rw::autograph_tool {

// Without options that only other compilers know, without precompiled headers and modules, warnings and
// outputs.
std::vector<std::string> adapt_flags(const std::vector<std::string>& command);

}  // namespace rw::autograph_tool
