// What a file says of a trace's arguments and results, as functions of the program's own know it: so that
// loaded functions are saved again, and are called by name.
#pragma once

#include <cstddef>

#include "rewind/function/structure.h"
#include "rewind/saved/value.h"

namespace rw::saved_model {

// `inputs` is ((positional...), {by name}). Tensors are numbered as TensorFlow flattens them: maps by their
// keys. Not known where the file speaks of other numbers of tensors than the graph has.
CallStructure call_structure(const Value& inputs, const Value& outputs, size_t num_arguments,
                             size_t num_results);

}  // namespace rw::saved_model
