// Shares: every unit is taken once, a run of its own first and in order, whoever takes.
#include "rewind/device/shares.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace rw {
namespace {

TEST(Shares, OwnRunFirstThenThoseOfOthers) {
  Shares shares(10, 3);  // [0, 3), [3, 6), [6, 10)
  std::vector<std::vector<int64_t>> taken;
  for (int64_t begin = 0, end = 0; shares.take(1, 2, begin, end);) taken.push_back({begin, end});
  EXPECT_EQ(taken, (std::vector<std::vector<int64_t>>{{3, 5}, {5, 6}, {6, 8}, {8, 10}, {0, 2}, {2, 3}}));
}

TEST(Shares, FewerUnitsThanRunsAndNone) {
  Shares few(2, 5);
  int64_t begin = 0;
  int64_t end = 0;
  std::vector<int64_t> taken;
  while (few.take(4, 1, begin, end)) taken.push_back(begin);
  std::ranges::sort(taken);
  EXPECT_EQ(taken, (std::vector<int64_t>{0, 1}));
  EXPECT_FALSE(Shares(0, 2).take(0, 1, begin, end));
}

// More takers than runs can be kept apart.
TEST(Shares, ThreadsTakeEachUnitOnce) {
  constexpr int kThreads = 20;
  constexpr int64_t kUnits = 20011;
  Shares shares(kUnits, kThreads);
  std::vector<std::atomic<int>> times(kUnits);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int64_t begin = 0, end = 0; shares.take(t, 3, begin, end);)
        for (int64_t i = begin; i < end; ++i) ++times[size_t(i)];
    });
  for (std::thread& t : threads) t.join();
  for (const auto& n : times) ASSERT_EQ(n, 1);
}

}  // namespace
}  // namespace rw
