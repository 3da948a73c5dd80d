// Every program that is linked in is a test.
#include <gtest/gtest.h>

#include "rewind/graph/verify_passes.h"
#include "tests/autograph/check.h"

namespace rw::autograph_test {

class SameAsPlainCpp : public testing::Test {
 public:
  explicit SameAsPlainCpp(const Ways& ways) : ways_(ways) {}
  void TestBody() override {
    ASSERT_TRUE(ways_.plain && ways_.converted);
    EXPECT_EQ(differences(ways_), "");
  }

 private:
  const Ways& ways_;
};

}  // namespace rw::autograph_test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  rw::set_verify_passes(true);
  for (const auto& [name, ways] : rw::autograph_test::programs())
    testing::RegisterTest(
        "AutographCases", name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
        [&ways = ways]() -> testing::Test* { return new rw::autograph_test::SameAsPlainCpp(ways); });
  return RUN_ALL_TESTS();
}
