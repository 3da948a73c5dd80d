// A compiler's command line as Clang's parser takes it.
#pragma once

#include <string>
#include <vector>

namespace rw::autograph_tool {

// Without options that only other compilers know, without precompiled headers and modules, warnings and
// outputs.
std::vector<std::string> adapt_flags(const std::vector<std::string>& command);

// Appends the flags of a file: one a line, or several behind "SHELL:", in quotes as for a shell, as CMake has
// them in COMPILE_OPTIONS. Returns whether it could be read.
bool read_flags(const std::string& file, std::vector<std::string>& command);

}  // namespace rw::autograph_tool
