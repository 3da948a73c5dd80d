// Where the groups of a match lie: all ways through a program side by side, each with its marks.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "rewind/base/regex/program.h"

namespace rw::regex {

// The preferred match that begins at `from`: marks[2 g] and marks[2 g + 1] become where group g begins and
// ends, kNowhere for a group that took no part, for as many groups as there is room. False: there is none.
bool find_groups(const Program& program, std::string_view text, size_t from, std::vector<size_t>* marks);

}  // namespace rw::regex
