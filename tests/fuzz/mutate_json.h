// Mutations of JSON as values: members and elements change, move and go.
#pragma once

#include <string>

#include "rewind/format/json.h"
#include "tests/fuzz/fuzz.h"

namespace rw::fuzz {

// Text that is no JSON changes as bytes do.
std::string mutate_json(std::string_view text, Random& random);

}  // namespace rw::fuzz
