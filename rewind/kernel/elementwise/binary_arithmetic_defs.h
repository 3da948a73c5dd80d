// Definitions: binary arithmetic. Integer divisors are not zero and integer exponents not negative here: the
// kernels look first.
#pragma once

#include "rewind/kernel/elementwise/integer_division.h"
#include "rewind/kernel/elementwise/visit.h"

namespace rw {

template <class Visitor>
void visit_binary_arithmetic(Visitor&& v) {
  v.template op<kRealTypes>("AddV2", [](auto x, auto y) { return x + y; });
  v.alias("Add", "AddV2");
  v.template op<kRealTypes>("Sub", [](auto x, auto y) { return x - y; });
  v.template op<kRealTypes>("Mul", []<class T>(T x, T y) {
    if constexpr (is_integer_value<T>) return scalar::integer::multiply(x, y);
    else return x * y;
  });
  v.template op<kRealTypes>("Div", []<class T>(T x, T y) {
    if constexpr (is_integer_value<T>) return scalar::integer::quick_trunc_div(x, y);
    else return x / y;
  });
  v.template op<kFloatTypes>("RealDiv", [](auto x, auto y) { return x / y; });
  v.template op<kRealTypes>("FloorDiv", []<class T>(T x, T y) {
    if constexpr (is_integer_value<T>) return scalar::integer::quick_floor_div(x, y);
    else return scalar::floor_div(x, y);
  });
  v.template op<kRealTypes>("TruncateDiv", []<class T>(T x, T y) {
    if constexpr (is_integer_value<T>) return scalar::integer::quick_trunc_div(x, y);
    else return scalar::trunc(x / y);
  });
  v.template op<kFloatTypes>("DivNoNan", [](auto x, auto y) { return scalar::div_no_nan(x, y); });
  v.template op<kFloatTypes>("MulNoNan", [](auto x, auto y) { return scalar::mul_no_nan(x, y); });
  v.template op<kFloatTypes>("Xdivy", [](auto x, auto y) { return scalar::xdivy(x, y); });
  v.template op<kRealTypes>("Maximum", []<class T>(T x, T y) {
    if constexpr (is_integer_value<T>) return x > y ? x : y;
    else return scalar::maximum(x, y);
  });
  v.template op<kRealTypes>("Minimum", []<class T>(T x, T y) {
    if constexpr (is_integer_value<T>) return x < y ? x : y;
    else return scalar::minimum(x, y);
  });
  v.template op<kFloatTypes | set_of(DType::kInt32, DType::kInt64)>(
      "SquaredDifference", []<class T>(T x, T y) {
        if constexpr (is_integer_value<T>) return scalar::integer::squared_difference(x, y);
        else return scalar::squared_difference(x, y);
      });
  // alpha is the second operand: one value for all.
  v.template op<kFloatTypes>("LeakyRelu", [](auto x, auto alpha) { return scalar::leaky_relu(x, alpha); });
}

}  // namespace rw
