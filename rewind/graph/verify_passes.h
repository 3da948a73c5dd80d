// Whether the compiler verifies the graph behind every pass: in builds without NDEBUG (debug, sanitizers),
// and where a test asks for it.
#pragma once

#include <cstdint>

namespace rw {

bool verifies_passes();
void set_verify_passes(bool on);
// What verifies_passes() is at the start.
bool verifies_passes_by_default();
// How many graphs were verified so far. For tests.
int64_t num_verified_graphs();

}  // namespace rw
