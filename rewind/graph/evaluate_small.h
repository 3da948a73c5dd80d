// Values that are known before running: sizes and axes that follow from constants. Small integer results
// only, so that building a graph never does the graph's work.
#pragma once

#include <span>

#include "rewind/op/attrs.h"
#include "rewind/op/op.h"

namespace rw {

// The output's value, or an empty HostTensor when it is not known, not small, or not of integers.
HostTensor evaluate_small(const Op& op, const Attrs& attrs, std::span<const View> inputs, DType dtype,
                          const Shape& shape);

// Memory for a constant of the host. Elements of strings are constructed.
HostTensor allocate_host(DType dtype, const Shape& shape);

}  // namespace rw
