// What docs/threads.md calls safe for any number of threads, and no other test covers: each at once from
// many.
#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <thread>

#include "rewind/data/dataset.h"
#include "rewind/module/module.h"
#include "rewind/report/profiler.h"
#include "rewind/rewind.h"

namespace rw {
namespace {

constexpr int kManyThreads = 6;

template <class Body>
void at_once(Body body) {
  std::barrier start(kManyThreads);
  std::vector<std::string> errors(kManyThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kManyThreads; ++t)
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      try {
        body(t);
      } catch (const std::exception& e) { errors[size_t(t)] = e.what(); }
    });
  for (std::thread& t : threads) t.join();
  for (const std::string& e : errors) EXPECT_EQ(e, "");
}

TEST(ThreadRules, TensorsAreReadByAll) {
  const Tensor x = random::stateless_normal({50, 4}, constant({1, 2}));
  const std::vector<float> want = (x * 2.0f).to_vector<float>();
  const std::string text = x.repr();
  at_once([&](int) {
    for (int i = 0; i < 20; ++i) {
      const Tensor copy = x;
      EXPECT_EQ((copy * 2.0f).to_vector<float>(), want);
      EXPECT_EQ(copy.repr(), text);
      EXPECT_EQ(copy(Slice(0, 10)).shape(), (Shape{10, 4}));
    }
  });
}

TEST(ThreadRules, EagerUpdatesOfAVariableAreWhole) {
  const Variable sum(zeros({1000})), last(zeros({1000}));
  at_once([&](int t) {
    for (int i = 0; i < 50; ++i) {
      sum.assign_add(fill({1000}, float(t)));
      last.assign(fill({1000}, float(t)));
      sum.scatter_add(constant({0}), constant({1.0f}));
      const std::vector<float> seen = last.to_vector<float>();  // of one write
      EXPECT_EQ(std::count(seen.begin(), seen.end(), seen[0]), 1000);
    }
  });
  const float all = 50.0f * float(kManyThreads * (kManyThreads - 1) / 2);
  EXPECT_EQ(sum.to_vector<float>()[0], all + 50.0f * kManyThreads);
  EXPECT_EQ(sum.to_vector<float>()[999], all);
}

TEST(ThreadRules, GeneratorsGiveEachItsOwnNumbers) {
  const auto generator = random::Generator::from_seed(7);
  std::vector<std::vector<int64_t>> draws(kManyThreads);
  at_once([&](int t) {
    for (int i = 0; i < 20; ++i)
      for (const uint64_t n : generator.uniform_full_int({4}).to_vector<uint64_t>())
        draws[size_t(t)].push_back(int64_t(n));
  });
  std::vector<int64_t> got, want;
  for (const auto& d : draws) got.insert(got.end(), d.begin(), d.end());
  const auto again = random::Generator::from_seed(7);
  for (int i = 0; i < 20 * kManyThreads; ++i)
    for (const uint64_t n : again.uniform_full_int({4}).to_vector<uint64_t>()) want.push_back(int64_t(n));
  std::sort(got.begin(), got.end());
  std::sort(want.begin(), want.end());
  EXPECT_EQ(got, want);
}

TEST(ThreadRules, OpsThatDraw) {
  at_once([&](int t) {
    if (t == 0) random::set_seed(3);
    for (int i = 0; i < 20; ++i) {
      random::normal({4});
      random::get_global_generator().uniform({4});
    }
    if (t == 1) random::set_global_generator(random::Generator::from_seed(1));
  });
}

TEST(ThreadRules, DatasetsAreWalkedByAll) {
  const auto dataset = data::Dataset::range(100)
                           .map([](const Tensor& x) { return x * int64_t(2); })
                           .shuffle(10, {.seed = 3})
                           .batch(8)
                           .prefetch(2);
  at_once([&](int) {
    int64_t sum = 0;
    for (const Tensor& batch : dataset) sum += reduce_sum(batch).item<int64_t>();
    EXPECT_EQ(sum, 9900);
    EXPECT_EQ(dataset.cardinality(), 13);
  });
}

TEST(ThreadRules, ModulesAreListedByAll) {
  struct Pair : Module {
    Variable a{zeros({2})}, b{ones({2})};
    RW_TRACK(a, b)
  };
  const Pair module;
  at_once([&](int) {
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(module.name(), "pair");
      EXPECT_EQ(module.variables().size(), 2u);
      EXPECT_EQ((module.a + module.b).to_vector<float>(), (std::vector<float>{1, 1}));
    }
  });
}

TEST(ThreadRules, SettingsOfTheProcess) {
  const int before = config::threading::get_intra_op_parallelism_threads();
  const Tensor x = ones({64, 64});
  at_once([&](int t) {
    for (int i = 0; i < 10; ++i) {
      const auto scope = device("CPU:0");
      const NameScope names("thread" + std::to_string(t));
      EXPECT_EQ(Variable(x).name(), "thread" + std::to_string(t) + "/Variable:0");
      if (t == 0) config::threading::set_intra_op_parallelism_threads(1 + i % 2);
      if (t == 1) debugging::enable_check_numerics();
      if (t == 1) debugging::disable_check_numerics();
      if (t == 2) memory::trim();
      if (t == 3) memory::reset_peak();
      if (t == 4) profiler::start();
      if (t == 4) { EXPECT_FALSE(profiler::stop_as_table().empty()); }
      EXPECT_GT(memory::stats().current, 0);
      EXPECT_EQ(matmul(x, x).to_vector<float>()[5], 64.0f);
    }
  });
  config::threading::set_intra_op_parallelism_threads(before);
}

TEST(ThreadRules, ABudgetThatIsSetMeanwhile) {
  const auto f = function([](const Tensor& x) { return reduce_sum(tanh(x * 2.0f)); });
  const Tensor x = ones({64, 64});
  const float want = f(x).item<float>();
  at_once([&](int t) {
    for (int i = 0; i < 10; ++i) {
      if (t == 0) memory::set_budget("CPU:0", i % 2 == 0 ? int64_t{1} << 30 : 0);
      EXPECT_EQ(f(x).item<float>(), want);
      GradientTape tape;
      tape.watch(x);
      EXPECT_FALSE(tape.gradient(reduce_sum(x * x), x).none());
    }
  });
  memory::set_budget("CPU:0", 0);
}

}  // namespace
}  // namespace rw
