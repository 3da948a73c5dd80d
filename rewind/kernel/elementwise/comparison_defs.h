// Definitions: comparisons, logic, bits.
#pragma once

#include "rewind/kernel/elementwise/visit.h"

namespace rw {

template <class Visitor>
void visit_comparison(Visitor&& v) {
  constexpr DTypeSet kBool = set_of(DType::kBool);
  v.template op<kRealTypes>("Less", [](auto x, auto y) { return x < y; });
  v.template op<kRealTypes>("LessEqual", [](auto x, auto y) { return x <= y; });
  v.template op<kRealTypes>("Greater", [](auto x, auto y) { return x > y; });
  v.template op<kRealTypes>("GreaterEqual", [](auto x, auto y) { return x >= y; });
  v.template op<kRealTypes | kBool>("Equal", [](auto x, auto y) { return x == y; });
  v.template op<kRealTypes | kBool>("NotEqual", [](auto x, auto y) { return x != y; });
  v.template op<kBool>("LogicalAnd", [](auto x, auto y) { return bool(x & y); });
  v.template op<kBool>("LogicalOr", [](auto x, auto y) { return bool(x | y); });
  v.template op<kIntTypes>("BitwiseAnd", [](auto x, auto y) { return decltype(x)(x & y); });
  v.template op<kIntTypes>("BitwiseOr", [](auto x, auto y) { return decltype(x)(x | y); });
  v.template op<kIntTypes>("BitwiseXor", [](auto x, auto y) { return decltype(x)(x ^ y); });
  // Shifts by less than zero or by the width and more count as the nearest that is defined.
  v.template op<kIntTypes>("LeftShift", []<class T>(T x, T y) { return scalar::integer::left_shift(x, y); });
  v.template op<kIntTypes>("RightShift",
                           []<class T>(T x, T y) { return scalar::integer::right_shift(x, y); });
}

}  // namespace rw
