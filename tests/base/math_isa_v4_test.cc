// The loops of math_isa_loops.h for the instruction set in this file's name, vectorised.
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("arch=x86-64-v4,prefer-vector-width=512")
#pragma GCC optimize("O3")
#endif
#define RW_LOOPS v4_loops
#include "math_isa_loops.h"
