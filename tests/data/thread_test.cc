// Threads of pipelines: order, errors, ends.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/data/elements.h"
#include "tests/support/expect_error.h"

namespace rw::data {
namespace {

TEST(DataThreads, ParallelMapKeepsTheOrder) {
  const auto ds = Dataset::range(300).map([](Tensor x) { return x * 2; }, {.num_parallel_calls = 4});
  const auto got = numbers(ds);
  ASSERT_EQ(got.size(), 300u);
  for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], int64_t(2 * i));
}

TEST(DataThreads, ParallelMapWithoutAnOrderGivesAll) {
  auto got = numbers(Dataset::range(300).map([](Tensor x) { return x * 2; },
                                             {.num_parallel_calls = 4, .deterministic = false}));
  std::sort(got.begin(), got.end());
  ASSERT_EQ(got.size(), 300u);
  for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], int64_t(2 * i));
}

TEST(DataThreads, ErrorsReachTheConsumerInTheirPlace) {
  for (const int64_t threads : {0, 1, 3}) {
    const auto ds = Dataset::range(6).map(
        [](Tensor x) {
          if (x.item<int64_t>() == 3) throw DataLossError("element three is bad");
          return x;
        },
        {.num_parallel_calls = threads});
    for (const auto& pipeline : {ds, ds.prefetch(2), ds.prefetch(1).prefetch(2)}) {
      auto it = pipeline.iterator();
      for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(it.next()->item<int64_t>(), i);
      expect_error<DataLossError>([&] { it.next(); }, "element three is bad");
      EXPECT_EQ(it.next()->item<int64_t>(), 4);  // the pass goes on behind it
      EXPECT_EQ(it.next()->item<int64_t>(), 5);
      EXPECT_FALSE(it.next().has_value());
      EXPECT_FALSE(it.next().has_value());
    }
  }
}

TEST(DataThreads, ExceptionsOfTheUsersOwnTypePass) {
  struct Mine {
    int number;
  };
  auto it = Dataset::range(1)
                .map(
                    [](Tensor x) -> Tensor {
                      throw Mine{7};
                      return x;
                    },
                    {.num_parallel_calls = 2})
                .prefetch(2)
                .iterator();
  try {
    it.next();
    FAIL();
  } catch (const Mine& m) { EXPECT_EQ(m.number, 7); }
}

TEST(DataThreads, PassesThatAreLeftEarlyStop) {
  for (int i = 0; i < 50; ++i) {
    const auto ds = Dataset::range(1000000)
                        .shuffle(50, {.seed = i})
                        .map([](Tensor x) { return x + 1; }, {.num_parallel_calls = 3})
                        .batch(4)
                        .prefetch(3);
    auto it = ds.iterator();
    for (int k = 0; k < i % 4; ++k) it.next();
  }
}

TEST(DataThreads, PositionsWhileThreadsRun) {
  auto it = Dataset::range(200)
                .map([](Tensor x) { return x + 1; }, {.num_parallel_calls = 3})
                .prefetch(4)
                .iterator();
  for (int64_t i = 1; i <= 200; ++i) {
    const Position position = it.position();
    EXPECT_FALSE(position.empty());
    EXPECT_EQ(it.next()->item<int64_t>(), i);
  }
}

TEST(DataThreads, SeveralThreadsWithPassesOfTheirOwn) {
  const auto ds =
      Dataset::range(100).shuffle(10).map([](Tensor x) { return x; }).cache().batch(7).prefetch(2);
  std::atomic<int64_t> total{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (const Tensor& b : ds) total += reduce_sum(b).item<int64_t>();
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(total, 4 * 4950);
}

// One pass that several threads take from: every element once.
TEST(DataThreads, OnePassForSeveralThreads) {
  auto it = Dataset::range(500).prefetch(3).iterator();
  std::atomic<int64_t> total{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, mine = it]() mutable {
      while (auto x = mine.next()) total += x->item<int64_t>();
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(total, 500 * 499 / 2);
}

// No tape hears what a pipeline does.
TEST(DataThreads, TapesDoNotHearPipelines) {
  const Variable w(2.0f);
  GradientTape tape;
  const auto ds =
      Dataset::from_tensor_slices(constant(std::vector<float>{1, 2})).map([&](Tensor x) { return x * w; });
  Tensor sum = constant(0.0f);
  for (const Tensor& x : ds) sum = sum + x * w;
  EXPECT_EQ(Tensor(tape.gradient(sum, w)).item<float>(), 2.0f + 4.0f);
}

}  // namespace
}  // namespace rw::data
