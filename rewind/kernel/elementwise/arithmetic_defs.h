// Definitions: unary arithmetic, rounding, tests, bits, and the activations without transcendental functions.
#pragma once

#include "rewind/kernel/elementwise/visit.h"

namespace rw {

template <class Visitor>
void visit_arithmetic(Visitor&& v) {
  constexpr DTypeSet kSignedReal = kFloatTypes | kSignedTypes;
  v.template op<kSignedReal>("Abs", []<class T>(T x) {
    if constexpr (is_integer_value<T>) return scalar::integer::abs(x);
    else return scalar::abs(x);
  });
  v.template op<kSignedReal>("Neg", [](auto x) { return -x; });
  v.template op<kSignedReal>("Sign", []<class T>(T x) {
    if constexpr (is_integer_value<T>) return scalar::integer::sign(x);
    else return scalar::sign(x);
  });
  v.template op<kRealTypes>("Square", []<class T>(T x) {
    if constexpr (is_integer_value<T>) return scalar::integer::multiply(x, x);
    else return x * x;
  });
  v.template op<kFloatTypes>("Reciprocal", [](auto x) { return scalar::reciprocal(x); });
  v.alias("Inv", "Reciprocal");
  v.template op<kFloatTypes>("Sqrt", [](auto x) { return scalar::sqrt(x); });
  v.template op<kFloatTypes>("Rsqrt", [](auto x) { return scalar::rsqrt(x); });

  v.template op<kFloatTypes>("Floor", [](auto x) { return scalar::floor(x); });
  v.template op<kFloatTypes>("Ceil", [](auto x) { return scalar::ceil(x); });
  v.template op<kFloatTypes>("Rint", [](auto x) { return scalar::rint(x); });
  v.template op<kSignedReal>("Round", []<class T>(T x) {
    if constexpr (is_integer_value<T>) return x;
    else return scalar::rint(x);
  });

  v.template op<kFloatTypes>("IsNan", [](auto x) { return scalar::is_nan(x); });
  v.template op<kFloatTypes>("IsInf", [](auto x) { return scalar::is_inf(x); });
  v.template op<kFloatTypes>("IsFinite", [](auto x) { return scalar::is_finite(x); });
  v.template op<set_of(DType::kBool)>("LogicalNot", [](auto x) { return !x; });
  v.template op<kIntTypes>("Invert", [](auto x) { return decltype(x)(~x); });
  v.template op<kIntTypes>("PopulationCount",
                           []<class T>(T x) { return uint8_t(scalar::integer::count_bits(x)); });

  v.template op<kRealTypes>("Relu", []<class T>(T x) {
    if constexpr (is_integer_value<T>) return x > T{0} ? x : T{0};
    else return scalar::relu(x);
  });
  v.template op<kRealTypes>("Relu6", []<class T>(T x) {
    if constexpr (is_integer_value<T>) return x < T{0} ? T{0} : x > T{6} ? T{6} : x;
    else return scalar::relu6(x);
  });
  v.template op<kFloatTypes>("Softsign", [](auto x) { return scalar::softsign(x); });
}

}  // namespace rw
