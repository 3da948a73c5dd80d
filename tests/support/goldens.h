// Where the golden files lie, and which there are.
#pragma once

#include <string>
#include <vector>

#include "tests/support/case_io.h"

namespace rw::test {

// Names of the families that have a golden file, sorted. $REWIND_GOLDEN_DIR, or tests/golden beside the
// sources.
std::vector<std::string> golden_families();
std::string golden_path(const std::string& family);
// A file below tests/golden, whole. Throws NotFoundError.
std::string golden_bytes(const std::string& name);
// Read once and kept.
const std::vector<Golden>& goldens(const std::string& family);

}  // namespace rw::test
