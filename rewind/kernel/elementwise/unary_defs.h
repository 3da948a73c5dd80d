// Definitions of the unary elementwise ops.
#pragma once

#include "rewind/base/math/math.h"
#include "rewind/kernel/elementwise/visit.h"

namespace rw {

template <class Visitor>
void visit_unary_ops(Visitor&& v) {
  v.template op<kFloatTypes>("Exp", [](auto x) { return scalar::exp(x); });
  v.template op<kFloatTypes | kSignedTypes>("Neg", [](auto x) { return -x; });
}

}  // namespace rw
