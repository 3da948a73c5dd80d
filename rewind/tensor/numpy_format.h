// Arrays as text, as numpy prints them: aligned columns, brackets, lines of 75 characters, and only the
// corners of arrays of more than 1000 elements.
#pragma once

#include <string>

#include "rewind/op/view.h"

namespace rw {

// str(array): "[1.  2.5]".
std::string numpy_str(const View& array);
// repr(array): "array([1. , 2.5], dtype=float32)".
std::string numpy_repr(const View& array);

}  // namespace rw
