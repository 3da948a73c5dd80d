#include "rewind/compiler/plan_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace rw {
namespace {

// Lives as a training step has them: values of some sizes that are read soon, and of some again on the way
// back.
std::vector<Lifetime> training_lives(int seed, int steps) {
  std::mt19937 random(static_cast<unsigned>(seed));
  const auto up_to = [&](int n) { return int(random() % unsigned(n)); };
  const int64_t unit = 64 * (1 + up_to(2000));
  std::vector<Lifetime> lives;
  for (int i = 0; i < steps; ++i) {
    const int64_t bytes = unit * std::vector<int>{1, 1, 1, 3, 4}[size_t(up_to(5))];
    const bool kept = up_to(3) == 0;
    lives.push_back({bytes, i, kept ? 2 * steps - i : i + 1 + up_to(4)});
    lives.push_back({bytes, 2 * steps - i - 1, std::min(2 * steps, 2 * steps - i + up_to(6))});
  }
  return lives;
}

int64_t alive_at(const std::vector<Lifetime>& lives, int place) {
  int64_t bytes = 0;
  for (const Lifetime& l : lives)
    if (l.first <= place && place <= l.last) bytes += arena_rounded(l.bytes);
  return bytes;
}

TEST(PlanMemory, PacksWithHardlyAHole) {
  double over = 0;
  for (int seed = 0; seed < 40; ++seed) {
    const std::vector<Lifetime> lives = training_lives(seed, 60);
    const MemoryPlan plan = plan_memory(lives);
    for (size_t a = 0; a < lives.size(); ++a) {
      EXPECT_LE(plan.offsets[a] + lives[a].bytes, plan.bytes);
      for (size_t b = 0; b < a; ++b) {
        const bool meet = lives[a].first <= lives[b].last && lives[b].first <= lives[a].last;
        const bool share = plan.offsets[a] < plan.offsets[b] + lives[b].bytes &&
                           plan.offsets[b] < plan.offsets[a] + lives[a].bytes;
        EXPECT_FALSE(meet && share) << "seed " << seed << ": " << a << " and " << b;
      }
    }
    int64_t most = 0;
    for (int place = 0; place <= 120; ++place) most = std::max(most, alive_at(lives, place));
    EXPECT_GE(plan.bytes, most);
    over += double(plan.bytes) / double(most) - 1;
  }
  EXPECT_LE(over / 40, 0.01);
}

TEST(PlanMemory, DoesNotDependOnHowLivesAreListed) {
  for (int seed = 0; seed < 20; ++seed) {
    std::vector<Lifetime> lives = training_lives(seed, 40);
    const int64_t bytes = plan_memory(lives).bytes;
    std::mt19937 random(7);
    for (int k = 0; k < 5; ++k) {
      std::shuffle(lives.begin(), lives.end(), random);
      EXPECT_EQ(plan_memory(lives).bytes, bytes) << "seed " << seed;
    }
    // Nor on instructions between that make nothing, or on bytes that rounding adds.
    for (Lifetime& l : lives) {
      l.bytes -= seed;
      l.first = 3 * l.first + l.first / 7;
      l.last = 3 * l.last + l.last / 7 + 1;
    }
    EXPECT_EQ(plan_memory(lives).bytes, bytes) << "seed " << seed;
  }
}

}  // namespace
}  // namespace rw
