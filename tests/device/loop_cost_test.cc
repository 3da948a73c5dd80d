// How many threads loops are given, as their cost and that of a handoff become known.
#include "rewind/device/loop_cost.h"

#include <gtest/gtest.h>

#include <cmath>

namespace rw {
namespace {

TEST(LoopCost, ThreadsFollowWorkAndHandoff) {
  EXPECT_EQ(threads_worth(1000, 500, 16), 1);  // a microsecond is not split at half of one per thread
  EXPECT_EQ(threads_worth(10000, 500, 16), 3);
  EXPECT_EQ(threads_worth(1e6, 500, 16), 16);  // a millisecond is worth all
  EXPECT_EQ(threads_worth(1e6, 500, 2), 2);
  EXPECT_EQ(threads_worth(1e6, 1e5, 16), 2);  // unless the cores are hard to have
  EXPECT_EQ(threads_worth(0, 500, 16), 1);
  // Never slower by the model than alone, and near the best choice.
  for (double work = 100; work < 1e8; work *= 1.7)
    for (double cost = 150; cost < 1e6; cost *= 3) {
      const auto time = [&](int t) { return t == 1 ? work : work / t + cost * t; };
      const int t = threads_worth(work, cost, 64);
      EXPECT_LE(time(t), work);
      double best = work;
      for (int k = 2; k <= 64; ++k) best = std::min(best, time(k));
      EXPECT_LE(time(t), 1.2 * best) << work << " " << cost;
    }
}

TEST(LoopCost, HandoffIsTheMedianOfWhatIsMeasured) {
  HandoffCost cost;
  // Two threads, 20 us of work: 10 us each and 2 us for every thread, with a late helper at every third loop.
  for (int i = 0; i < 3000; ++i) cost.measured(i % 3 == 0 ? 4e6 : 14000, 20000, 2);
  EXPECT_NEAR(cost.nanoseconds(), 2000, 300);
  for (int i = 0; i < 3000; ++i) cost.measured(4e6, 20000, 2);  // helpers are always late
  EXPECT_GT(cost.nanoseconds(), 1e5);
  EXPECT_EQ(threads_worth(20000, cost.nanoseconds(), 2), 1);
  int loops = 0;  // the cores are free again: a split is tried after a while
  for (; threads_worth(20000, cost.nanoseconds(), 2) == 1; ++loops) {
    ASSERT_LT(loops, 5000);
    cost.avoided();
  }
  EXPECT_GT(loops, 100);
}

TEST(LoopCost, WorkIsKnownPerLoop) {
  LoopWork loops;
  int a = 0;
  int b = 0;
  EXPECT_LT(loops.of(&a, 100, 10), 0);
  LoopWork::update(loops.of(&a, 100, 10), 5000);
  EXPECT_EQ(loops.of(&a, 100, 10), 5000);
  EXPECT_LT(loops.of(&a, 200, 10), 0);
  EXPECT_LT(loops.of(&b, 100, 10), 0);
  LoopWork::update(loops.of(&a, 100, 10), 13000);  // a disturbed run
  EXPECT_EQ(loops.of(&a, 100, 10), 6000);
  LoopWork::update(loops.of(&a, 100, 10), 4000);
  EXPECT_EQ(loops.of(&a, 100, 10), 4000);
}

}  // namespace
}  // namespace rw
