// Tensors as lists, for comparisons.
#pragma once

#include <vector>

#include "rewind/tensor/tensor.h"

namespace rw::test {

inline std::vector<float> floats(const Tensor& t) { return t.to_vector<float>(); }

}  // namespace rw::test
