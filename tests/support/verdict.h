// What a check of one case found.
#pragma once

#include "tests/support/case_io.h"

namespace rw::test {

struct Verdict {
  enum Status { kPassed, kFailed, kSkipped } status = kPassed;
  std::string text;  // what failed, or why it was skipped
};

}  // namespace rw::test
