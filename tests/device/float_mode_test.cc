// The floating-point mode on OpenMP's threads, which the program's own regions use as well.
#include "rewind/base/float_mode.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>
#include <vector>

#include "rewind/device/parallel.h"
#include "rewind/tensor/config.h"
#include "rewind/tensor/ops/creation.h"
#include "rewind/tensor/ops/matmul.h"
#include "rewind/tensor/ops/unary.h"

namespace rw {
namespace {

constexpr int kThreads = 4;

bool flushes() { return (float_control() & kFlush) != 0; }

// How many threads of a region of the program flush denormals.
int flushing_threads() {
  std::atomic<int> count{0};
#pragma omp parallel num_threads(kThreads)
  count += flushes();
  return count;
}

class FloatModeOfTeams : public ::testing::Test {
 protected:
  void SetUp() override {
    if (kFlush == 0) GTEST_SKIP() << "no such mode on this processor";
    set_num_threads(kThreads);
  }
  void TearDown() override { set_num_threads(0); }
};

TEST_F(FloatModeOfTeams, LoopsRunInTheCallersMode) {
  const auto flushing_pieces = [] {
    std::atomic<int> count{0};
    parallel_for(1000, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) count += flushes();
    });
    return count.load();
  };
  EXPECT_EQ(flushing_threads(), 0);
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(flushing_pieces(), 0);
    {
      const KernelFloatMode mode;
      EXPECT_EQ(flushing_pieces(), 1000);
    }
    EXPECT_EQ(flushing_pieces(), 0);
    EXPECT_EQ(flushing_threads(), 0);
  }
}

// Threads that a kernel's loop starts are the program's later.
TEST_F(FloatModeOfTeams, NewThreadsAreInTheCallersMode) {
  std::thread([] {  // has no team yet
    {
      const KernelFloatMode mode;
      parallel_for(1000, 1, [](int64_t, int64_t) {});
    }
    EXPECT_EQ(flushing_threads(), 0);
  })
      .join();
}

// Products of 1e-20 by 1e-21 and their sums are denormals, wherever the row is computed. 512 x 512 x 512 is
// oneDNN's.
TEST_F(FloatModeOfTeams, ProductsFlushOnEveryThread) {
  for (const int64_t n : {64, 200, 512, 700}) {
    EXPECT_EQ(flushing_threads(), 0);
    const Tensor a = fill({n, n}, 1e-20), b = fill({n, n}, 1e-21);
    for (const bool turned : {false, true}) {
      const std::vector<float> c = matmul(a, b, {.transpose_a = turned}).to_vector<float>();
      EXPECT_EQ(std::count_if(c.begin(), c.end(), [](float x) { return std::fpclassify(x) != FP_ZERO; }), 0)
          << n << (turned ? " turned" : "");
    }
    EXPECT_FALSE(flushes());
    EXPECT_EQ(flushing_threads(), 0);
  }
}

TEST_F(FloatModeOfTeams, SoDoElementwiseOps) {
  const std::vector<float> c = square(fill({1 << 20}, 1e-20)).to_vector<float>();
  EXPECT_EQ(std::count_if(c.begin(), c.end(), [](float x) { return std::fpclassify(x) != FP_ZERO; }), 0);
  EXPECT_EQ(flushing_threads(), 0);
}

}  // namespace
}  // namespace rw
