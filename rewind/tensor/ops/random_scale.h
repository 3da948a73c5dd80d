// From draws of the unit interval and the standard normal to the asked range. For the library's own files.
#pragma once

#include "rewind/tensor/ops/random.h"

namespace rw::random::detail {

struct IntegerRange {
  Tensor low, high;
};
IntegerRange integer_range(const char* tag, const UniformOptions& options);
Tensor scale_uniform(Tensor draw, const UniformOptions& options);
Tensor scale_normal(Tensor draw, const NormalOptions& options);

}  // namespace rw::random::detail
