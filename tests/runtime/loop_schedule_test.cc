// Schedules of loops that are run through backwards, against the optimum found by dynamic programming.
#include <gtest/gtest.h>

#include <vector>

#include "rewind/runtime/checkpointed_loop.h"

namespace rw {
namespace {

// The fewest advances by trying every place for the next kept state.
std::vector<std::vector<int64_t>> optimum(int64_t steps, int64_t states) {
  std::vector<std::vector<int64_t>> best(size_t(states) + 1, std::vector<int64_t>(size_t(steps) + 1, 0));
  for (size_t s = 1; s < best.size(); ++s) {
    for (int64_t n = 2; n <= steps; ++n) {
      best[s][size_t(n)] = n * (n - 1) / 2;
      for (int64_t m = 1; m < n && s > 1; ++m)
        best[s][size_t(n)] =
            std::min(best[s][size_t(n)], m + best[s - 1][size_t(n - m)] + best[s][size_t(m)]);
    }
  }
  return best;
}

// Runs a loop of `steps` iterations forwards and backwards and counts; `known`: its length is known before.
int64_t advances(int64_t steps, int64_t states, bool known) {
  LoopStates loop(known ? steps : -1, states);
  const LoopStates::State none{};
  for (int64_t i = 0; i < steps; ++i) loop.offer(i, none);
  int64_t count = steps - 1;
  for (int64_t i = steps; i-- > 0;) loop.take(i, [&](LoopStates::State&, int64_t) { ++count; });
  return count;
}

TEST(LoopSchedule, NumbersAreTheOptimum) {
  const auto best = optimum(150, 8);
  for (int64_t states = 1; states <= 8; ++states)
    for (int64_t steps = 1; steps <= 150; ++steps)
      EXPECT_EQ(least_advances(steps, states), best[size_t(states)][size_t(steps)])
          << steps << ", " << states;
}

TEST(LoopSchedule, KnownLengthTakesTheOptimum) {
  for (const int64_t states : {1, 2, 3, 7, 50})
    for (const int64_t steps : {1, 2, 3, 10, 51, 52, 53, 400})
      EXPECT_EQ(advances(steps, states, true), least_advances(steps, states)) << steps << ", " << states;
  EXPECT_EQ(least_advances(10'000, 50), 28'622);
  EXPECT_EQ(advances(10'000, 50, true), 28'622);
}

TEST(LoopSchedule, UnknownLengthTakesAtMostHalfMore) {
  for (const int64_t states : {2, 3, 10, 50, 100}) {
    double worst = 0;
    for (int64_t steps = 10; steps <= 10'000; steps += 1 + steps / 40)
      worst = std::max(worst, double(advances(steps, states, false)) / double(least_advances(steps, states)));
    EXPECT_LE(worst, 1.5) << states;
  }
}

// Every single length, for 50 states.
TEST(LoopSchedule, EveryUnknownLength) {
  for (int64_t steps = 10; steps <= 3'000; ++steps)
    ASSERT_LE(2 * advances(steps, 50, false), 3 * least_advances(steps, 50)) << steps;
}

TEST(LoopSchedule, StatesThatGrowWithTheLoop) {
  for (const int64_t steps : {1, 5, 100, 1'000, 10'000}) {
    EXPECT_LE(advances(steps, 0, true), 2 * steps);
    EXPECT_LE(advances(steps, 0, false), 3 * steps);
  }
}

TEST(LoopSchedule, StatesAreThoseOfTheirSteps) {
  for (const bool known : {false, true}) {
    for (const int64_t states : {1, 3, 6}) {
      constexpr int64_t kSteps = 40;
      const auto state_of = [](int64_t step) {
        LoopStates::State state(1);
        state[0].size = step;
        return state;
      };
      LoopStates loop(known ? kSteps : -1, states);
      for (int64_t i = 0; i < kSteps; ++i) loop.offer(i, state_of(i));
      for (int64_t i = kSteps; i-- > 0;) {
        const LoopStates::State got = loop.take(i, [](LoopStates::State& s, int64_t step) {
          EXPECT_EQ(s[0].size, step);
          ++s[0].size;
        });
        EXPECT_EQ(got[0].size, i);
      }
    }
  }
}

}  // namespace
}  // namespace rw
