// An op under vectorized_map against a loop: with each input batched alone, and with all of them.
#pragma once

#include "tests/support/verdict.h"

namespace rw::test {

Verdict check_batching(const Case& c);

}  // namespace rw::test
