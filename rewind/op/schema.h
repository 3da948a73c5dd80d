// The text form of an op row.
#pragma once

#include <string_view>

#include "rewind/op/op.h"

namespace rw {

// Fills a row from its text; throws InvalidArgumentError that shows the place.
void parse_schema(std::string_view text, Op* op);

}  // namespace rw
