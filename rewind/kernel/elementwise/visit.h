// How an elementwise op is defined: a name, the dtypes it takes, and one generic function over the scalar
// type. A visitor decides what to make of it: the CPU kernels instantiate it with float and friends in a
// loop, a code generator with a type that emits instructions.
//
//   v.template op<kFloatTypes>("Exp", [](auto x) { return scalar::exp(x); });
//   v.template long_op<kFloatTypes>("Pow", f);                // for a function so long that copies matter
//   v.template op_with_fast_path<kFloatTypes>("Sin", f, g, allows);  // g has the bits of f where allows(x)
//   v.template op_with_fast_blocks<kFloatTypes>("Exp", f, g, allows);  // the same, worth it in blocks only
//   v.alias("Inv", "Reciprocal");                             // another name of an op defined before
//
// float16 and bfloat16 come in as float and are rounded once on the way out. A function that returns bool or
// uint8_t makes an output of that dtype, any other an output of the input's.
#pragma once

#include <type_traits>

#include "rewind/base/dtype.h"
#include "rewind/base/math/math.h"

namespace rw {

template <class T>
inline constexpr bool is_integer_value = std::is_integral_v<T>;

// c ? a : b, for integers too.
template <class C, class T>
RW_SCALAR T choose(C c, T a, T b) {
  if constexpr (is_integer_value<T>) return c ? a : b;
  else return scalar::select(c, a, b);
}

}  // namespace rw
