// How an elementwise op is defined: a name, the dtypes it takes, and one generic function over the scalar type.
// A visitor decides what to make of it: the CPU kernels instantiate it with float and friends in a loop, a code
// generator with a type that emits instructions.
//
//   v.template op<kFloatTypes>("Exp", [](auto x) { return scalar::exp(x); });
//
// float16 and bfloat16 come in as float and are rounded once on the way out. A function that returns bool makes an
// output of dtype bool.
#pragma once

#include "rewind/base/dtype.h"
