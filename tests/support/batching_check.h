// An op under vectorized_map against a loop: with every choice of inputs that differ from element to element
// (of many inputs: each alone, and all), eagerly and in a trace that does not know the number of elements.
#pragma once

#include "tests/support/verdict.h"

namespace rw::test {

Verdict check_batching(const Case& c);

}  // namespace rw::test
