// IDX files, the format of MNIST; plain or gzipped.
#pragma once

#include <string>

#include "rewind/tensor/tensor.h"

namespace rw::data {

// The whole file as a tensor of its own type and shape. Throws NotFoundError (followed by `hint`) and
// DataLossError.
Tensor read_idx(const std::string& path, const std::string& hint = {});

}  // namespace rw::data
