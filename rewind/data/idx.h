// IDX files, the format of MNIST; plain or gzipped.
#pragma once

#include <string>

#include "rewind/format/expansion_limit.h"
#include "rewind/tensor/tensor.h"

namespace rw::data {

// The whole file as a tensor of its own type and shape. Throws NotFoundError (followed by `hint`) and
// DataLossError, also for a gzipped one that says that it unpacks to more than the limit allows.
Tensor read_idx(const std::string& path, const std::string& hint = {},
                const format::ExpansionLimit& limit = {});

}  // namespace rw::data
