// Checks of an op's rules that need no golden: each compares an analytic result with one that plain
// evaluation gives. All run in float64, on the case with its float tensors widened.
#pragma once

#include "tests/support/verdict.h"

namespace rw::test {

// The case with every float leaf, output gradient and written type attribute in double (complex in
// complex128).
Case widened(const Case& c);

Verdict check_numeric_gradient(const Case& c);  // central differences against the tape
Verdict check_second_gradient(
    const Case& c);  // central differences of the gradient against the tape over the tape
Verdict check_forward_mode(const Case& c);  // directional central difference against the accumulator

}  // namespace rw::test
