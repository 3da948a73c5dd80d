// Gradients of loops inside budgets: some states are kept, the others are computed again, with the same bits.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>

#include "rewind/autodiff/rule.h"
#include "rewind/kernel/kernel.h"
#include "rewind/op/table.h"
#include "rewind/rewind.h"
#include "rewind/runtime/loop_schedule.h"

namespace rw {
namespace {

std::atomic<int64_t> g_runs{0};

// The identity, which counts how often it runs.
Tensor counted(const Tensor& x) {
  static const bool once = [] {
    op_table().add("TestCounted(x: T) -> (y: T); T: {float}").shape([](ShapeContext& ctx) {
      ctx.output(0, ctx.input(0));
    });
    register_kernel("TestCounted", DeviceType::kCpu, [](KernelContext& ctx) {
      ++g_runs;
      std::memcpy(ctx.out(0).data, ctx.in(0).data, size_t(ctx.in(0).size) * sizeof(float));
    });
    register_gradient("TestCounted", kNeedsNothing, [](GradContext& g) { g.set(0, g.grad()); });
    return true;
  }();
  (void)once;
  return raw_op("TestCounted", {x})[0];
}

using Loop = std::function<Tensor(const Tensor& x, const Tensor& y, const Tensor& n)>;
using Step = Function<std::function<std::vector<Tensor>(Tensor, Tensor, Tensor)>>;

Step gradients_of(const Loop& loop, int64_t budget) {
  return function(
      std::function<std::vector<Tensor>(Tensor, Tensor, Tensor)>([loop](Tensor x, Tensor y, Tensor n) {
        GradientTape tape;
        tape.watch(x);
        tape.watch(y);
        const Tensor result = loop(x, y, n);
        const std::vector<Gradient> g = tape.gradient(reduce_sum(result), std::vector<Tensor>{x, y});
        return std::vector<Tensor>{result, g[0].tensor(), g[1].tensor()};
      }),
      {.memory_budget = budget});
}

Tensor input(uint64_t seed, int64_t size = 4096) {
  return random::stateless_normal({size}, constant(std::vector<int64_t>{int64_t(seed), 1}));
}

void expect_same_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    const auto x = a[i].to_vector<float>();
    const auto y = b[i].to_vector<float>();
    ASSERT_EQ(x.size(), y.size());
    EXPECT_EQ(std::memcmp(x.data(), y.data(), x.size() * sizeof(float)), 0) << "result " << i;
  }
}

// The budget in which the loop keeps so many states.
int64_t budget_for(const Loop& loop, int64_t states, const Tensor& x, const Tensor& y, const Tensor& n) {
  const int64_t start = gradients_of(loop, 0).memory_plan(x, y, n).curve.back().budget + 64;
  const MemoryReport plan = gradients_of(loop, start).memory_plan(x, y, n);
  EXPECT_EQ(plan.loops.size(), 1u);
  return start + (states - plan.loops.at(0).states) * plan.loops.at(0).state_bytes +
         plan.loops.at(0).state_bytes / 2;
}

Loop counting_loop(int limit) {
  return [limit](const Tensor& x, const Tensor& y, const Tensor&) {
    const auto [i, r] = while_loop(
        [limit](Tensor i, Tensor) { return i < limit; },
        [&](Tensor i, Tensor v) { return std::tuple{i + 1, counted(math::sin(v * y) * 0.5f + v * 0.9f)}; },
        std::tuple{constant(0), x});
    return r;
  };
}

TEST(CheckpointedLoop, TenThousandIterationsAndFiftyStates) {
  const Tensor x = input(1, 1024), y = input(2, 1024), n = constant(0);
  const Loop loop = counting_loop(10'000);
  const int64_t budget = budget_for(loop, 50, x, y, n);
  const Step step = gradients_of(loop, budget);
  const MemoryReport plan = step.memory_plan(x, y, n);
  ASSERT_EQ(plan.loops.size(), 1u);
  EXPECT_EQ(plan.loops[0].steps, 10'000);
  EXPECT_EQ(plan.loops[0].states, 50);
  EXPECT_EQ(plan.loops[0].advances, 28'622);
  memory::reset_peak();
  g_runs = 0;
  const std::vector<Tensor> inside = step(x, y, n);
  // The last iteration gives the result: it runs once besides the advances.
  EXPECT_EQ(g_runs, 28'622 + 1);
  EXPECT_LE(memory::stats().peak, budget);
  expect_same_bits(gradients_of(loop, 0)(x, y, n), inside);
}

TEST(CheckpointedLoop, LengthThatIsAnArgument) {
  const Tensor x = input(3), y = input(4), n = constant(300);
  const Loop loop = [](const Tensor& x, const Tensor& y, const Tensor& n) {
    const auto [i, r] = while_loop(
        [&](Tensor i, Tensor) { return i < n; },
        [&](Tensor i, Tensor v) { return std::tuple{i + 1, counted(math::sin(v * y) * 0.5f + v)}; },
        std::tuple{constant(0), x});
    return r;
  };
  const Step step = gradients_of(loop, budget_for(loop, 10, x, y, n));
  const MemoryReport plan = step.memory_plan(x, y, n);
  EXPECT_EQ(plan.loops.at(0).steps, -1);
  EXPECT_EQ(plan.loops.at(0).states, 10);
  g_runs = 0;
  const std::vector<Tensor> inside = step(x, y, n);
  EXPECT_EQ(g_runs, least_advances(300, 10) + 1);
  expect_same_bits(gradients_of(loop, 0)(x, y, n), inside);
}

TEST(CheckpointedLoop, LengthThatDependsOnTheData) {
  const Tensor x = input(5), y = input(6), n = constant(0);
  const Loop loop = [](const Tensor& x, const Tensor& y, const Tensor&) {
    const auto [s, r] = while_loop([](Tensor s, Tensor) { return s < 2.5e5f; },
                                   [&](Tensor s, Tensor v) {
                                     const Tensor next = counted(math::sin(v * y) * 0.5f + v);
                                     return std::tuple{s + reduce_sum(math::abs(next)) * 0.1f, next};
                                   },
                                   std::tuple{0.f, x});
    return r + s * 0.f;
  };
  const int64_t budget = budget_for(loop, 10, x, y, n);
  const Step step = gradients_of(loop, budget);
  g_runs = 0;
  memory::reset_peak();
  const std::vector<Tensor> inside = step(x, y, n);
  const int64_t runs = g_runs;
  EXPECT_LE(memory::stats().peak, budget);
  g_runs = 0;
  expect_same_bits(gradients_of(loop, 0)(x, y, n), inside);
  const int64_t steps = g_runs;
  ASSERT_GT(steps, 50);
  EXPECT_GT(runs, steps);
  EXPECT_LE(runs - 1, least_advances(steps, 10) * 3 / 2);
}

// Draws are made again from their counters, prints and assignments happen once.
TEST(CheckpointedLoop, StateAndRandomNumbersInside) {
  const Tensor x = input(7), y = input(8), n = constant(0);
  Variable calls(0.f, {.trainable = false});
  Variable scale(0.7f);
  const Loop loop = [&](const Tensor& x, const Tensor& y, const Tensor&) {
    const auto [i, r] =
        while_loop([](Tensor i, Tensor) { return i < 60; },
                   [&](Tensor i, Tensor v) {
                     calls.assign_add(1.f);
                     const Tensor noise = random::normal({4096});
                     const Tensor kept = nn::dropout(v, 0.1f);
                     return std::tuple{i + 1, math::tanh(kept * y + noise * scale) + calls * 1e-3f};
                   },
                   std::tuple{constant(0), x});
    return r;
  };
  const int64_t budget = budget_for(loop, 5, x, y, n);
  random::set_seed(11);
  const Step step = gradients_of(loop, budget);
  EXPECT_EQ(step.memory_plan(x, y, n).loops.at(0).states, 5);
  memory::reset_peak();
  const std::vector<Tensor> inside = step(x, y, n);
  EXPECT_LE(memory::stats().peak, budget);
  EXPECT_EQ(calls.value().item<float>(), 60.f);
  calls.assign(0.f);
  random::set_seed(11);
  expect_same_bits(gradients_of(loop, 0)(x, y, n), inside);
  EXPECT_EQ(calls.value().item<float>(), 60.f);
}

TEST(CheckpointedLoop, RecomputeGradAroundTheBody) {
  const Tensor x = input(9, 1 << 14), y = input(10, 1 << 14), n = constant(0);
  const auto loop_with = [](bool recompute) -> Loop {
    return [recompute](const Tensor& x, const Tensor& y, const Tensor&) {
      auto plain = [&](const Tensor& v) { return math::sin(v * y) * 0.5f + v; };
      const auto again = recompute_grad(plain);
      const auto [i, r] =
          while_loop([](Tensor i, Tensor) { return i < 400; },
                     [&](Tensor i, Tensor v) { return std::tuple{i + 1, recompute ? again(v) : plain(v)}; },
                     std::tuple{constant(0), x});
      return r;
    };
  };
  memory::reset_peak();
  const int64_t before = memory::stats().current;
  const std::vector<Tensor> plain = gradients_of(loop_with(false), 0)(x, y, n);
  const int64_t all_states = memory::stats().peak - before;
  memory::reset_peak();
  const int64_t then = memory::stats().current;
  expect_same_bits(plain, gradients_of(loop_with(true), 0)(x, y, n));
  const int64_t some_states = memory::stats().peak - then;
  EXPECT_LT(some_states * 5, all_states);  // about 28 of 400
}

TEST(CheckpointedLoop, ScanOverElements) {
  const Tensor x = input(12), y = input(13), n = constant(0);
  const Loop loop = [](const Tensor& x, const Tensor& y, const Tensor&) {
    const Tensor parts = reshape(y, {64, 64});
    const Tensor all =
        scan([](const Tensor& a, const Tensor& e) { return math::tanh(a * 0.5f + reduce_sum(e)); }, parts, x);
    return reduce_mean(all, 0);
  };
  const std::vector<Tensor> plain = gradients_of(loop, 0)(x, y, n);
  const int64_t budget = gradients_of(loop, 0).memory_plan(x, y, n).curve.back().budget + (4 << 20);
  expect_same_bits(plain, gradients_of(loop, budget)(x, y, n));
}

TEST(CheckpointedLoop, TooSmallABudgetIsRefused) {
  const Tensor x = input(14), y = input(15), n = constant(0);
  const Loop loop = counting_loop(50);
  const int64_t least = gradients_of(loop, 0).memory_plan(x, y, n).curve.back().budget;
  try {
    gradients_of(loop, least - (64 << 10))(x, y, n);
    FAIL() << "expected a refusal";
  } catch (const ResourceExhaustedError& e) {
    EXPECT_NE(std::string(e.what()).find("The smallest that works is"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace rw
