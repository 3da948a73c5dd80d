// Values as text, as TensorFlow's print ops write them.
#pragma once

#include <string>

#include "rewind/op/view.h"

namespace rw {

// One element: 1, 0.333333343, (1+2j), "text" (quoted strings when `quote`). TensorFlow writes ? for complex
// numbers.
std::string element_text(const View& view, int64_t i, bool quote);
// The whole tensor: [[1 2 3] ...]; each axis shows `summarize` elements at both ends, all when it is
// negative.
std::string value_text(const View& view, int64_t summarize);
// The first `count` elements, in one row: "1, 2, 3, ...".
std::string flat_text(const View& view, int64_t count);

}  // namespace rw
