// Which addresses are those of states of living variables, and which variable was made first.
#pragma once

#include <cstdint>

namespace rw {

// Whether Variable::id() of a living variable is this address; nothing is read there. Any thread.
bool is_variable_state(const void* address);
// Grows with every variable that is made; 0 for what is none.
uint64_t variable_number(const void* id);

}  // namespace rw
