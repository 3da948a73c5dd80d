// Definitions of the binary elementwise ops.
#pragma once

#include "rewind/base/math/math.h"
#include "rewind/kernel/elementwise/visit.h"

namespace rw {

template <class Visitor>
void visit_binary_ops(Visitor&& v) {
  v.template op<kRealTypes>("AddV2", [](auto x, auto y) { return x + y; });
  v.template op<kRealTypes>("Sub", [](auto x, auto y) { return x - y; });
  v.template op<kRealTypes>("Mul", [](auto x, auto y) { return x * y; });
  v.template op<kRealTypes>("Less", [](auto x, auto y) { return x < y; });
}

}  // namespace rw
