// The harness itself: golden files are read whole, damaged ones are refused, and a wrong result is seen.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "tests/support/compare.h"
#include "tests/support/goldens.h"

namespace rw::test {
namespace {

TEST(CaseIo, ReadsAllGoldens) {
  for (auto& family : golden_families()) {
    SCOPED_TRACE(family);
    EXPECT_FALSE(goldens(family).empty());
    for (auto& golden : goldens(family)) {
      EXPECT_EQ(golden.want.failed, golden.input.expect_error) << golden.input.name();
      EXPECT_EQ(difference(golden.input, golden.want, golden.want), "") << golden.input.name();
      EXPECT_EQ(golden.want.gradients.size(), golden.input.wanted.size()) << golden.input.name();
    }
  }
}

TEST(CaseIo, SeesOneWrongElement) {
  int seen = 0;
  for (auto& family : golden_families()) {
    for (auto& golden : goldens(family)) {
      if (golden.want.failed || golden.want.outputs.empty() || !golden.want.outputs[0] ||
          golden.input.checks != std::vector{Check::kValues})
        continue;
      Result wrong = golden.want;
      Array& a = *wrong.outputs[0];
      if (a.size() == 0) continue;
      if (a.dtype == DType::kString) a.strings[0] += "x";
      else if (epsilon_of(a.dtype) == 0) a.bytes[0] = char(a.bytes[0] ^ 1);
      else
        a.set_component(0,
                        std::isfinite(a.component(0)) ? a.component(0) + 3 + std::fabs(a.component(0)) : 1);
      EXPECT_NE(difference(golden.input, golden.want, wrong), "") << golden.input.name();
      ++seen;
    }
  }
  EXPECT_GT(seen, 0);
}

TEST(CaseIo, RefusesDamagedFiles) {
  auto families = golden_families();
  ASSERT_FALSE(families.empty());
  std::ifstream file(golden_path(families[0]), std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::string path = ::testing::TempDir() + "rewind_damaged.bin";
  for (size_t length : {size_t{0}, size_t{3}, size_t{6}, size_t{40}, bytes.size() / 2, bytes.size() - 1}) {
    std::ofstream(path, std::ios::binary) << bytes.substr(0, length);
    EXPECT_THROW(read_goldens(path), std::runtime_error) << length;
  }
}

TEST(Difference, FollowsTheTolerance) {
  Array want = make_array(DType::kFloat32, {2}), got = want;
  want.set_component(0, 1000);
  want.set_component(1, 1e-6);
  got = want;
  Tolerance plain;
  got.set_component(1, 1e-6 + 1e-4);
  EXPECT_NE(difference(want, got, plain), "");
  Tolerance sums{.ulp = 16, .abs_ulp = 16, .scaled = true};
  EXPECT_EQ(difference(want, got, sums), "");
  got.set_component(1, NAN);
  EXPECT_NE(difference(want, got, sums), "");
  want.set_component(1, NAN);
  EXPECT_EQ(difference(want, got, sums), "");
  EXPECT_NE(difference(want, std::nullopt, sums), "");
}

}  // namespace
}  // namespace rw::test
