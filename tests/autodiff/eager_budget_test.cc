// Eager code under a memory budget: values under tapes are dropped and made again. The budget is kept or the
// op is refused; results have the same bits as without; whatever else holds tensors (variables, functions,
// views, other threads, user pointers) sees right values.
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "rewind/tensor/dlpack.h"
#include "tests/autodiff/eager_budget.h"

namespace rw {
namespace {

TEST(EagerBudget, DeepChainsRunInAFewStates) {
  const Slopes free_run = run_chain(3000);
  const memory::Stats before = memory::stats();
  const int64_t budget = held_plus(40 * 8192 * 4);
  {
    const Budget limit(budget);
    memory::reset_peak();
    const Slopes small = run_chain(3000);
    EXPECT_TRUE(same(free_run.dx, small.dx));
    EXPECT_TRUE(same(free_run.value, small.value));
    EXPECT_LE(memory::stats().peak, budget);
    EXPECT_LE(memory::stats().reserved, budget);
  }
  const memory::Stats after = memory::stats();
  EXPECT_EQ(after.remembered - before.remembered, 4 * 3000);
  EXPECT_GT(after.remade, before.remade);
  // 3,000 layers and at most 40 states: the optimum is 4 sweeps.
  EXPECT_LT(double(after.remade - before.remade), 4.0 * 4 * 3000);
  EXPECT_EQ(after.droppable, 0);
}

TEST(EagerBudget, WhereNothingNeedsDroppingNothingIsMadeTwice) {
  const memory::Stats before = memory::stats();
  memory::reset_peak();
  const Slopes free_run = run_chain(20);
  const int64_t peak = memory::stats().peak;
  const Budget limit(int64_t{1} << 30);
  memory::reset_peak();
  const Slopes same_run = run_chain(20);
  EXPECT_TRUE(same(free_run.dx, same_run.dx));
  EXPECT_EQ(memory::stats().remade, before.remade);
  EXPECT_LE(memory::stats().peak, peak + 4096) << "only small constants may live longer";
}

TEST(EagerBudget, PersistentTapesAreAskedAgain) {
  const Tensor x = ones({8192});
  const Tensor y = fill({8192}, 0.5f);
  auto run = [&] {
    GradientTape tape({.persistent = true});
    tape.watch(std::vector<Tensor>{x, y});
    const Tensor a = chain(x, y, 60);
    const Tensor b = chain(a, y, 60);
    std::vector<std::vector<float>> out;
    for (const Tensor& target : {reduce_sum(b), reduce_sum(a * a), reduce_sum(b)})
      for (const auto& g : tape.gradient(target, std::vector<Tensor>{x, y})) out.push_back(bits(g.tensor()));
    return out;
  };
  const auto free_run = run();
  const Budget limit(held_plus(60 * 32768));
  EXPECT_TRUE(free_run == run());
}

TEST(EagerBudget, TapesInTapes) {
  const Tensor x = fill({8192}, 0.3f);
  auto run = [&] {
    GradientTape outer;
    outer.watch(x);
    Tensor slope;
    {
      GradientTape inner;
      inner.watch(x);
      const Tensor z = chain(x, x, 30);
      slope = inner.gradient(reduce_sum(z * z), x);
    }
    return bits(outer.gradient(reduce_sum(slope * slope), x));
  };
  memory::reset_peak();
  const int64_t base = held_plus(0);
  const auto free_run = run();
  const int64_t need = memory::stats().peak - base;
  const int64_t remade = memory::stats().remade;
  const Budget limit(held_plus(need / 2));
  EXPECT_TRUE(same(free_run, run()));
  EXPECT_GT(memory::stats().remade, remade);
}

TEST(EagerBudget, VariablesChangeUnderALiveTape) {
  auto run = [&](int64_t room) {
    Variable w(normal({96, 96}, 7, 1) * 0.1f);
    Variable running(zeros({96, 96}), {.trainable = false});
    const Tensor x = normal({96, 96}, 7, 2);
    if (room > 0) memory::set_budget("CPU:0", held_plus(room));
    std::vector<std::vector<float>> out;
    {
      GradientTape tape;
      Tensor h = x;
      for (int i = 0; i < 40; ++i) {
        h = tanh(matmul(h, w)) + h * 0.5f;
        running.assign(h);        // a value under the tape becomes a variable's
        w.assign_add(h * 1e-3f);  // and the next read is another snapshot
        h = h + running.read_value();
        running.assign_add(h);
      }
      out.push_back(bits(tape.gradient(reduce_sum(h), w)));
      out.push_back(bits(h));
    }
    out.push_back(bits(w.read_value()));
    out.push_back(bits(running.read_value()));
    memory::set_budget("CPU:0", 0);
    return out;
  };
  const auto free_run = run(0);
  const int64_t dropped = memory::stats().remade;
  EXPECT_TRUE(free_run == run(int64_t{110} * 96 * 96 * 4));
  EXPECT_GT(memory::stats().remade, dropped);
}

TEST(EagerBudget, WhatTheUserHoldsIsThereOnTouch) {
  const Tensor x = ones({16384});
  const Tensor y = fill({16384}, 0.5f);
  auto run = [&](bool read) {
    GradientTape tape;
    tape.watch(x);
    std::vector<Tensor> held;
    Tensor h = x;
    for (int i = 0; i < 60; ++i) {
      h = sin(h * y) + h;
      held.push_back(h);
    }
    const float* pointer = read ? held[3].data<float>().data() : nullptr;
    const std::vector<float> then =
        read ? std::vector<float>(pointer, pointer + 16384) : std::vector<float>();
    DLManagedTensor* given = read ? to_dlpack(held[5]) : nullptr;
    const Tensor slope = tape.gradient(reduce_sum(h), x);
    std::vector<std::vector<float>> out = {bits(slope)};
    for (const Tensor& t : held) out.push_back(bits(t * 1.0f));
    if (read) {
      EXPECT_TRUE(same(then, std::vector<float>(pointer, pointer + 16384))) << "a pointer stays valid";
      const Tensor back = from_dlpack(given);
      EXPECT_TRUE(same(bits(back), bits(held[5])));
    }
    return out;
  };
  const auto free_run = run(false);
  for (const int blocks : {12, 30}) {
    const Budget limit(held_plus(int64_t(blocks) * 65536));
    EXPECT_TRUE(free_run == run(false)) << blocks;
    EXPECT_TRUE(free_run == run(true)) << blocks;
  }
}

TEST(EagerBudget, TextAndFunctionsSeeDroppedValues) {
  const Tensor x = ones({16384});
  const auto f = function([](Tensor t) { return reduce_sum(t * t); });
  auto run = [&] {
    std::vector<std::string> out;
    GradientTape tape;
    tape.watch(x);
    std::vector<Tensor> held;
    Tensor h = x;
    for (int i = 0; i < 30; ++i) held.push_back(h = sin(h) + h);
    for (size_t i = 0; i < held.size(); i += 7) {
      out.push_back(held[i].to_string());
      out.push_back(held[i].repr());
      out.push_back(f(held[i + 1]).to_string());
    }
    return out;
  };
  f(x);
  const auto free_run = run();
  const int64_t before = memory::stats().remade;
  const Budget limit(held_plus(24 * 65536));
  EXPECT_TRUE(free_run == run());
  EXPECT_GT(memory::stats().remade, before);
}

TEST(EagerBudget, ViewsShareWhatComesAndGoes) {
  const Tensor x = normal({128, 128}, 3, 1);
  auto run = [&] {
    GradientTape tape;
    tape.watch(x);
    std::vector<Tensor> parts;
    Tensor h = x;
    Tensor sum = constant(0.0f);
    for (int i = 0; i < 30; ++i) {
      h = tanh(h) * 1.1f;
      const Tensor flat = reshape(h, {-1});
      parts.push_back(h.index({Slice(16, 64)}));  // in one piece: shares
      parts.push_back(reshape(flat, {64, 256}));
      const auto halves = split(h, 2);
      for (size_t k = parts.size() - 2; k < parts.size(); ++k) sum = sum + reduce_sum(parts[k] * parts[k]);
      h = concat({halves[1], halves[0]}, 0) + transpose(h);
    }
    std::vector<std::vector<float>> out = {bits(tape.gradient(sum + reduce_sum(h), x))};
    for (const Tensor& p : parts) out.push_back(bits(p + 0.0f));
    return out;
  };
  const auto free_run = run();
  const int64_t before = memory::stats().remade;
  const Budget limit(held_plus(40 * 65536));
  EXPECT_TRUE(free_run == run());
  EXPECT_GT(memory::stats().remade, before);
}

TEST(EagerBudget, DropoutDrawsTheSameMask) {
  const Tensor x = ones({128, 128});
  auto run = [&] {
    random::set_seed(17);
    GradientTape tape;
    tape.watch(x);
    Tensor h = x;
    for (int i = 0; i < 40; ++i) h = nn::dropout(tanh(h * 1.2f), 0.1) + h * 0.5f;
    const std::vector<float> slope = bits(tape.gradient(reduce_sum(h), x));
    return std::pair(slope, bits(random::normal({4})));  // the stream moved as far
  };
  const auto free_run = run();
  const int64_t before = memory::stats().remade;
  const Budget limit(held_plus(20 * 65536));
  EXPECT_TRUE(free_run == run());
  EXPECT_GT(memory::stats().remade, before);
}

TEST(EagerBudget, WhatDoesNotFitIsRefusedAndTheProgramGoesOn) {
  const Tensor x = ones({16384});
  const Slopes free_run = run_chain(50);
  const Budget limit(held_plus(12 * 65536));
  {
    GradientTape tape;
    tape.watch(x);
    Tensor h = x;
    for (int i = 0; i < 20; ++i) h = sin(h) + h;
    const std::vector<float> value = bits(h + 0.0f);
    try {
      concat(std::vector<Tensor>(20, h), 0);
      FAIL() << "20 blocks do not fit into 12";
    } catch (const ResourceExhaustedError& e) {
      const std::string text = e.what();
      EXPECT_NE(text.find("can still be dropped"), std::string::npos) << text;
      EXPECT_NE(text.find("in use by this op"), std::string::npos) << text;
    }
    EXPECT_TRUE(same(value, bits(h + 0.0f)));
    EXPECT_FALSE(tape.gradient(reduce_sum(h), x).none());
  }
  EXPECT_TRUE(same(free_run.dx, run_chain(50).dx));
}

TEST(EagerBudget, ARefusalNamesWhatIsPinnedLargestFirst) {
  Variable w(normal({512, 160}, 5, 1), {.name = "weights"});
  Variable slot(zeros({128, 160}), {.name = "momentum"});
  const Tensor table = matmul(normal({160, 160}, 5, 2), normal({160, 160}, 5, 3));
  const Tensor data = constant(std::vector<float>(32768, 1.0f));
  const Tensor x = ones({256, 160});
  const std::vector<float> before = bits(w.read_value());
  const Budget limit(held_plus(10 * 256 * 160 * 4));
  GradientTape tape;
  Tensor h = x;
  for (int i = 0; i < 30; ++i) h = tanh(matmul(h, table) * 0.01f + reduce_sum(w) * 1e-3f);
  const std::vector<float> value = bits(h + 0.0f);
  const int64_t held = memory::stats().current;
  std::string text;
  try {
    concat(std::vector<Tensor>(12, h), 0);
    FAIL() << "12 blocks do not fit into 10";
  } catch (const ResourceExhaustedError& e) { text = e.what(); }
  const size_t weights = text.find("320.00 KiB variable weights:0 float32(512, 160)");
  const size_t data_at = text.find("128.00 KiB tensor float32(32768,)");
  const size_t table_at = text.find("112.00 KiB tensor float32(160, 160) of MatMul");
  const size_t momentum = text.find("80.00 KiB variable momentum:0 float32(128, 160)");
  EXPECT_NE(text.find("tensor float32(256, 160) of Tanh (in use by this op"), std::string::npos) << text;
  EXPECT_LT(weights, data_at) << text;
  EXPECT_LT(data_at, table_at) << text;
  EXPECT_LT(table_at, momentum) << text;
  EXPECT_NE(momentum, std::string::npos) << text;
  // Nothing was harmed: values, variables, the tape, what is held.
  EXPECT_TRUE(same(value, bits(h + 0.0f)));
  EXPECT_TRUE(same(before, bits(w.read_value())));
  EXPECT_LE(memory::stats().current, std::max(held, memory::budget()));
  EXPECT_FALSE(tape.gradient(reduce_sum(h), w).none());
}

TEST(EagerBudget, ABudgetBelowWhatIsHeldNamesIt) {
  const Variable w(zeros({1024, 256}), {.name = "embedding"});
  try {
    const Budget limit(64 << 10);
    FAIL() << "the variable alone takes 1 MiB";
  } catch (const ResourceExhaustedError& e) {
    EXPECT_NE(std::string(e.what()).find("1.00 MiB variable embedding:0 float32(1024, 256)"),
              std::string::npos)
        << e.what();
  }
  EXPECT_EQ(memory::budget(), 0);
}

TEST(EagerBudget, TheBudgetMayEndWhileValuesAreDropped) {
  const Tensor x = ones({16384});
  std::vector<Tensor> held;
  auto run = [&](bool budget) {
    held.clear();
    if (budget) memory::set_budget("CPU:0", held_plus(10 * 65536));
    GradientTape tape;
    tape.watch(x);
    Tensor h = x;
    for (int i = 0; i < 40; ++i) held.push_back(h = sin(h) + h);
    memory::set_budget("CPU:0", 0);
    return bits(tape.gradient(reduce_sum(h), x));
  };
  const auto free_run = run(false);
  std::vector<std::vector<float>> values;
  for (const Tensor& t : held) values.push_back(bits(t));
  EXPECT_TRUE(same(free_run, run(true)));
  for (size_t i = 0; i < held.size(); ++i) EXPECT_TRUE(same(values[i], bits(held[i]))) << i;
}

TEST(EagerBudget, ThreadsShareDroppedTensors) {
  const Tensor x = ones({16384});
  std::vector<Tensor> held;
  auto build = [&](GradientTape& tape) {
    held.clear();
    tape.watch(x);
    Tensor h = x;
    for (int i = 0; i < 40; ++i) held.push_back(h = sin(h) * 0.5f + h);
  };
  std::vector<std::vector<float>> expected;
  {
    GradientTape tape;
    build(tape);
    for (const Tensor& t : held) expected.push_back(bits(t * 2.0f));
  }
  const Slopes free_run = run_chain(80);
  held.clear();
  const Budget limit(held_plus(30 * 65536));
  GradientTape tape;
  build(tape);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0}, refused{0};
  for (int k = 0; k < 3; ++k) {
    threads.emplace_back([&, k] {
      try {
        for (size_t i = 0; i < held.size(); ++i) {
          const size_t at = (i * 7 + size_t(k) * 13) % held.size();
          if (!same(expected[at], bits(held[at] * 2.0f))) ++wrong;
        }
        if (k == 0 && !same(free_run.dx, run_chain(80).dx)) ++wrong;
      } catch (const ResourceExhaustedError&) { ++refused; }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(refused, 0);
}

// Four threads with a chain each, in room for 20 states a thread. Which of them drops whose values is up to
// chance; a history that took the threads' calls for one chain came to no end here.
TEST(EagerBudget, ThreadsWithTapesOfTheirOwn) {
  constexpr int kThreads = 4, kLayers = 400;
  const Slopes free_run = run_chain(kLayers);
  const Budget limit(held_plus(kThreads * 20 * 32768 + (1 << 20)));
  const memory::Stats before = memory::stats();
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int k = 0; k < kThreads; ++k)
    threads.emplace_back([&] { wrong += !same(free_run.dx, run_chain(kLayers).dx); });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  const memory::Stats after = memory::stats();
  EXPECT_LT(double(after.remade - before.remade), 4.0 * double(after.remembered - before.remembered));
}

TEST(EagerBudget, AnotherThreadPlaysTheTape) {
  constexpr int kLayers = 400;
  const Slopes free_run = run_chain(kLayers);
  const Tensor x = ones({8192});
  const Tensor y = fill({8192}, 0.5f);
  const Budget limit(held_plus(20 * 32768));
  const memory::Stats before = memory::stats();
  GradientTape tape;
  tape.watch(x);
  const Tensor z = reduce_sum(chain(x, y, kLayers));
  bool right = false;
  tape.stop();
  std::thread([&] { right = same(free_run.dx, bits(tape.gradient(z, x))); }).join();
  EXPECT_TRUE(right);
  const memory::Stats after = memory::stats();
  EXPECT_LT(double(after.remade - before.remade), 4.0 * double(after.remembered - before.remembered));
}

}  // namespace
}  // namespace rw
