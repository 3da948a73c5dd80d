// Where text for the user goes.
#pragma once

#include <iosfwd>

namespace rw {

// std::cout, ready before the statics of the program are.
std::ostream& console();

}  // namespace rw
