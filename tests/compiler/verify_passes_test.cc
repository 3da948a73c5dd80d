// Graphs are verified behind every pass where that is asked for, and not in a release build by itself.
#include "rewind/graph/verify_passes.h"

#include <gtest/gtest.h>

#include "rewind/rewind.h"

namespace rw {
namespace {

int64_t verified_by_a_compilation() {
  const int64_t before = num_verified_graphs();
  const auto f = function([](const Tensor& x) { return reduce_sum(exp(x) * 2.0f + x); });
  (void)f(ones({3}));
  return num_verified_graphs() - before;
}

TEST(VerifyPasses, IsLeftToDebugBuilds) {
  EXPECT_EQ(verifies_passes_by_default(), !REWIND_TEST_RELEASE);
  set_verify_passes(false);
  EXPECT_EQ(verified_by_a_compilation(), 0);
  set_verify_passes(true);
  EXPECT_GT(verified_by_a_compilation(), 5);
}

}  // namespace
}  // namespace rw
