// Functions under a memory budget: random training steps (products, norms, dropout, residuals, state) run
// free and inside random budgets. The budget is kept, results and state have the same bits, the plan's
// prediction comes true; what cannot be kept is refused with the smallest budget that works, and that one
// does. $REWIND_RANDOM_SCALE scales the number of steps (1 = 5,000; default 0.05).
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <thread>

#include "rewind/compiler/llvm/compile.h"
#include "rewind/rewind.h"

namespace rw {
namespace {

constexpr int kModels = 5000;
constexpr int kShards = 10;

int models_per_shard() {
  const char* text = std::getenv("REWIND_RANDOM_SCALE");
  return std::max(1, int(kModels * (text ? std::atof(text) : 0.05)) / kShards);
}

Tensor normal(std::vector<int64_t> shape, uint64_t seed, int64_t which) {
  return random::stateless_normal(shape, constant(std::vector<int64_t>{int64_t(seed), which}));
}

// A random stack of layers that keeps the shape (rows, width).
struct Model {
  int64_t rows, width;
  std::vector<int> kinds;
  enum class Tapes { kOne, kPersistent, kNested } tapes = Tapes::kOne;
  std::vector<Variable> weights;
  Variable running, calls;

  explicit Model(uint64_t seed) : running(zeros({1}), {.trainable = false}), calls(0, {.trainable = false}) {
    std::mt19937_64 dice(seed);
    rows = 64 << dice() % 3;
    width = 32 * int64_t(1 + dice() % 6);
    const int layers = 3 + int(dice() % 9);
    for (int i = 0; i < layers; ++i) {
      kinds.push_back(int(dice() % 8));
      weights.emplace_back(normal({width, width}, seed, i) * 0.2f);
    }
    if (const uint64_t way = dice() % 6; way < 2) tapes = way == 0 ? Tapes::kPersistent : Tapes::kNested;
  }

  Tensor layer(size_t i, const Tensor& x) const {
    const Tensor y = matmul(x, weights[i]);
    switch (kinds[i]) {
      case 0: return nn::relu(y);
      case 1: return math::tanh(y) + x;
      case 2: return nn::gelu(y + 1.f, true);
      case 3: {
        const auto [mean, variance] = nn::moments(y, -1, true);
        return (y - mean) * math::rsqrt(variance + 1e-3f);
      }
      case 4: return nn::softmax(y) * x;
      case 5: return nn::dropout(y, 0.3f) + x;
      case 6: return matmul(x, nn::sigmoid(matmul(x, y, {.transpose_a = true})));
      default: {
        running.assign(running * 0.9f + reduce_mean(y) * 0.1f);
        return y - running;
      }
    }
  }

  Tensor forward(const Tensor& x) const {
    Tensor y = x;
    for (size_t i = 0; i < kinds.size(); ++i) y = layer(i, y);
    return y;
  }

  Tensor step(const Tensor& x) const {
    GradientTape tape({.persistent = tapes == Tapes::kPersistent});
    Tensor loss;
    std::vector<Gradient> grads;
    if (tapes == Tapes::kNested) {
      // The loss and how steep it is.
      GradientTape inner;
      inner.watch(x);
      loss = reduce_mean(math::square(forward(x)));
      const Tensor slope = inner.gradient(loss, x);
      loss = loss + reduce_sum(math::square(slope));
      grads = tape.gradient(loss, weights);
    } else {
      const Tensor y = forward(x);
      loss = reduce_mean(math::square(y));
      grads = tape.gradient(loss, weights);
      if (tapes == Tapes::kPersistent) {
        const std::vector<Gradient> more = tape.gradient(reduce_mean(math::tanh(y)), weights);
        for (size_t i = 0; i < grads.size(); ++i) grads[i] = grads[i].tensor() + more[i].tensor();
      }
    }
    calls.assign_add(1);
    for (size_t i = 0; i < weights.size(); ++i) weights[i].assign_sub(grads[i].tensor() * 0.01f);
    return loss;
  }
};

std::vector<float> numbers(const Tensor& t) {
  const std::span<const float> all = t.data<float>();
  return {all.begin(), all.end()};
}

struct Result {
  std::vector<std::vector<float>> values;  // losses, then the state
  int64_t peak = 0;
};

Result run(const Model& model, const Function<std::function<Tensor(Tensor)>>& step, const Tensor& x) {
  Result result;
  memory::reset_peak();
  for (int i = 0; i < 2; ++i) result.values.push_back(numbers(step(x)));
  result.peak = memory::stats().peak;
  for (const Variable& w : model.weights) result.values.push_back(numbers(w.value()));
  result.values.push_back(numbers(model.running.value()));
  EXPECT_EQ(model.calls.value().item<int32_t>(), 2);
  return result;
}

bool same(const Result& a, const Result& b) {
  if (a.values.size() != b.values.size()) return false;
  for (size_t i = 0; i < a.values.size(); ++i)
    if (a.values[i].size() != b.values[i].size() ||
        std::memcmp(a.values[i].data(), b.values[i].data(), a.values[i].size() * sizeof(float)) != 0)
      return false;
  return true;
}

Function<std::function<Tensor(Tensor)>> step_of(const Model& model, int64_t budget) {
  return function(std::function<Tensor(Tensor)>([&model](Tensor x) { return model.step(x); }),
                  {.memory_budget = budget});
}

// What everything but the step takes, parts of blocks that nobody uses included.
int64_t taken_by_others(const MemoryReport& free_plan) {
  return free_plan.curve.front().budget - (free_plan.predicted_peak - free_plan.held);
}

struct Tally {
  int budgets = 0, recomputing = 0, refused = 0;
};

void check_model(uint64_t seed, Tally* tally) {
  std::mt19937_64 dice(seed * 31 + 5);
  Result free_run;
  MemoryReport free_plan;
  const Model shape(seed);
  const Tensor x = normal({shape.rows, shape.width}, seed, 99);
  {
    random::set_seed(7);
    const Model model(seed);
    const auto step = step_of(model, 0);
    free_plan = step.memory_plan(x);
    free_run = run(model, step, x);
  }
  ASSERT_FALSE(free_plan.curve.empty());
  const int64_t most = free_plan.curve.front().budget;
  const int64_t least = free_plan.curve.back().budget;
  for (int k = 0; k < 2; ++k) {
    const int64_t slack = 32 << 10;  // blocks of the first model may be kept in parts
    const int64_t budget = least + slack + (most > least ? int64_t(dice() % uint64_t(most - least)) : 0);
    random::set_seed(7);
    const Model model(seed);
    const auto step = step_of(model, budget);
    const MemoryReport plan = step.memory_plan(x);
    const Result result = run(model, step, x);
    EXPECT_TRUE(same(result, free_run)) << "seed " << seed << ", budget " << budget << "\n"
                                        << plan.to_string();
    EXPECT_LE(result.peak, budget) << "seed " << seed << "\n" << plan.to_string();
    EXPECT_LE(std::abs(double(result.peak - plan.predicted_peak)), 0.02 * double(result.peak))
        << "seed " << seed << "\n"
        << plan.to_string();
    ++tally->budgets;
    tally->recomputing += plan.second_runs > 0;
  }
  const Model model(seed);
  const MemoryReport now = step_of(model, 0).memory_plan(x);
  const int64_t taken = taken_by_others(now);
  try {
    step_of(model, (now.curve.back().budget + taken) / 2)(x);
    ADD_FAILURE() << "seed " << seed << ": half of the least memory was enough";
  } catch (const ResourceExhaustedError& e) {
    EXPECT_NE(std::string(e.what()).find("smallest that works is"), std::string::npos) << e.what();
    ++tally->refused;
  }
  EXPECT_EQ(model.calls.value().item<int32_t>(), 0) << "a refused step must not run";
}

class RandomBudgets : public ::testing::TestWithParam<int> {};

TEST_P(RandomBudgets, KeptAndExact) {
  Tally tally;
  const int count = models_per_shard();
  for (int i = 0; i < count && !HasFailure(); ++i) check_model(uint64_t(GetParam() * count + i + 1), &tally);
  EXPECT_GT(tally.recomputing, tally.budgets / 4) << "budgets that ask for nothing test nothing";
}

INSTANTIATE_TEST_SUITE_P(Shards, RandomBudgets, ::testing::Range(0, kShards));

TEST(MemoryBudget, TheSmallestThatWorksWorks) {
  const Model shape(13);
  const Tensor x = normal({shape.rows, shape.width}, 13, 99);
  const Model model(13);
  const auto refused = step_of(model, 1);
  int64_t smallest = 0;
  try {
    refused(x);
    FAIL() << "one byte was enough";
  } catch (const ResourceExhaustedError& e) {
    const std::string text = e.what();
    const size_t at = text.find(" bytes)");
    ASSERT_NE(at, std::string::npos) << text;
    smallest = std::atoll(text.c_str() + text.rfind('(', at) + 1);
  }
  const auto step = step_of(model, smallest);
  memory::reset_peak();
  step(x);
  EXPECT_LE(memory::stats().peak, smallest);
}

// More budget never takes more work, less never takes more memory.
TEST(MemoryBudget, PlansAreMonotone) {
  size_t longest = 0;
  for (const uint64_t seed : {11, 12, 13, 14}) {
    const Model model(seed);
    const Tensor x = normal({model.rows, model.width}, seed, 99);
    const MemoryReport plan = step_of(model, 0).memory_plan(x);
    longest = std::max(longest, plan.curve.size());
    for (size_t i = 1; i < plan.curve.size(); ++i) {
      EXPECT_LT(plan.curve[i].budget, plan.curve[i - 1].budget);
      EXPECT_GT(plan.curve[i].extra_compute, plan.curve[i - 1].extra_compute);
    }
  }
  EXPECT_GE(longest, 3u);
}

// The same of what really runs: a sweep of budgets, with what they leave for joining second runs.
TEST(MemoryBudget, LessBudgetNeverTakesMoreMemory) {
  for (const uint64_t seed : {3, 11, 21}) {
    const Model model(seed);
    const Tensor x = normal({model.rows, model.width}, seed, 99);
    const MemoryReport free_plan = step_of(model, 0).memory_plan(x);
    const int64_t most = free_plan.curve.front().budget, least = free_plan.curve.back().budget;
    int64_t peak = std::numeric_limits<int64_t>::max();
    double extra = 0;
    for (int k = 16; k >= 0; --k) {
      const int64_t budget = least + (32 << 10) + (most - least) * k / 16;
      const MemoryReport plan = step_of(model, budget).memory_plan(x);
      EXPECT_LE(plan.predicted_peak, std::min(peak, budget)) << "seed " << seed << ", " << k << " of 16";
      EXPECT_GE(plan.extra_compute, extra - 0.005) << "seed " << seed << ", " << k << " of 16";
      peak = plan.predicted_peak;
      extra = plan.extra_compute;
    }
  }
}

// The gradients of a weight that many steps read are summed as they come, not all at once.
TEST(MemoryBudget, SumsOfWeightGradientsHoldFewOfThem) {
  constexpr int64_t kWidth = 96, kRows = 4;
  const Variable w(normal({kWidth, kWidth}, 1, 1) * 0.1f);
  const auto step = function(std::function<Tensor(Tensor)>([&](Tensor x) {
    GradientTape tape;
    for (int i = 0; i < 24; ++i) x = math::tanh(matmul(x, w));
    return Tensor(tape.gradient(reduce_sum(x), w));
  }));
  const Tensor x = normal({kRows, kWidth}, 1, 2);
  const MemoryReport plan = step.memory_plan(x);
  const int64_t weight = kWidth * kWidth * int64_t(sizeof(float)),
                row = kRows * kWidth * int64_t(sizeof(float));
  EXPECT_LE(plan.arena + plan.owned, 4 * weight + 40 * row) << plan.to_string();
}

// Of a long recurrence in half its memory some products are kept, and the others made again in stretches that
// start from kept states: about a sixth of the work, where all products again would be more than half.
TEST(MemoryBudget, LongRecurrencesKeepProducts) {
  constexpr int64_t kBatch = 32, kUnits = 128, kSteps = 200;
  const Variable input(normal({kUnits, 4 * kUnits}, 1, 1)), state(normal({kUnits, 4 * kUnits}, 1, 2));
  const std::function<std::vector<Tensor>(Tensor)> train = [&](Tensor x) {
    GradientTape tape;
    Tensor h = zeros({kBatch, kUnits});
    Tensor c = h;
    for (int64_t t = 0; t < kSteps; ++t) {
      const std::vector<Tensor> gates = split(matmul(x[t], input) + matmul(h, state), 4, 1);
      c = math::sigmoid(gates[1]) * c + math::sigmoid(gates[0]) * math::tanh(gates[2]);
      h = math::sigmoid(gates[3]) * math::tanh(c);
    }
    const auto grads = tape.gradient(reduce_sum(h), std::vector<Variable>{input, state});
    return std::vector<Tensor>{grads[0].tensor(), grads[1].tensor()};
  };
  const Tensor x = normal({kSteps, kBatch, kUnits}, 1, 3);
  const MemoryReport plan = function(train).memory_plan(x);
  const int64_t half = plan.held + (plan.curve.front().budget - plan.held) / 2;
  const auto at = std::find_if(plan.curve.begin(), plan.curve.end(),
                               [&](const auto& point) { return point.budget <= half; });
  ASSERT_NE(at, plan.curve.end());
  EXPECT_LE(at->extra_compute, 0.25);
  // The steps' inputs, small parts of a large value, are taken out of it again rather than kept.
  const MemoryReport in_half = function(train, {.memory_budget = half}).memory_plan(x);
  const auto products = std::count_if(in_half.lives.begin(), in_half.lives.end(), [&](const auto& life) {
    return life.again && life.bytes == kBatch * 4 * kUnits * int64_t(sizeof(float));
  });
  EXPECT_LE(products, kSteps * 2 * 4 / 10) << in_half.to_string();
}

// Blocks x + relu(norm(x) wide) narrow.
struct ResidualModel {
  static constexpr int64_t kRows = 512, kWidth = 64, kBlocks = 12;
  static constexpr int64_t kState = kRows * kWidth * int64_t(sizeof(float));
  static constexpr int64_t kInside = 10 * kState;  // relu's result and its gradient, four each; its input's
  std::vector<Variable> all;

  ResidualModel() {
    for (uint64_t i = 0; i < kBlocks; ++i) {
      all.emplace_back(normal({kWidth, 4 * kWidth}, i, 1) * 0.1f);
      all.emplace_back(normal({4 * kWidth, kWidth}, i, 2) * 0.1f);
    }
  }
  Tensor loss(Tensor x) const {
    for (size_t i = 0; i < all.size(); i += 2) {
      const auto [mean, variance] = nn::moments(x, -1, true);
      const Tensor even = (x - mean) * math::rsqrt(variance + 1e-5);
      x = x + matmul(nn::relu(matmul(even, all[i])), all[i + 1]);
    }
    return reduce_mean(x * x);
  }
};

// The least that a deep residual model needs: its results (the gradients), one block's inside, and a state
// for each block or less, where a block runs again from the state before it. Gradients have the same bits.
TEST(MemoryBudget, TheLeastHoldsAStateABlock) {
  using M = ResidualModel;
  const M model;
  const std::function<std::vector<Tensor>(Tensor)> train = [&](Tensor x) {
    GradientTape tape;
    std::vector<Tensor> grads;
    for (const Gradient& g : tape.gradient(model.loss(x), model.all)) grads.push_back(g.tensor());
    return grads;
  };
  const Tensor x = normal({M::kRows, M::kWidth}, 1, 3);
  const auto free_step = function(train);
  const MemoryReport plan = free_step.memory_plan(x);
  const int64_t gradients = M::kBlocks * 2 * 4 * M::kWidth * M::kWidth * int64_t(sizeof(float));
  if (loop::has_native_code())  // ops one by one keep more between them
    EXPECT_LE(plan.curve.back().budget - taken_by_others(plan),
              gradients + M::kInside + M::kBlocks * M::kState)
        << plan.to_string();
  const auto least = function(train, {.memory_budget = plan.curve.back().budget + (64 << 10)});
  const std::vector<Tensor> got = least(x), expected = free_step(x);
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(expected[i].to_vector<float>(), got[i].to_vector<float>()) << i;
}

// An update takes the product that only it reads along to where that can run, so gradients between layers do
// not wait for the end, and a block's values need not live from its forward to its update.
TEST(MemoryBudget, UpdatesTakeTheirProductsAlong) {
  using M = ResidualModel;
  const Tensor x = normal({M::kRows, M::kWidth}, 1, 3);
  const auto step_of_model = [&](const M& model, int64_t budget) {
    const std::function<Tensor(Tensor)> train = [&](Tensor t) {
      GradientTape tape;
      const Tensor loss = model.loss(t);
      const std::vector<Gradient> grads = tape.gradient(loss, model.all);
      for (size_t i = 0; i < grads.size(); ++i) model.all[i].assign_sub(grads[i].tensor() * 0.1f);
      return loss;
    };
    return function(train, {.memory_budget = budget});
  };
  const M free_model, small_model;
  const auto free_step = step_of_model(free_model, 0);
  const MemoryReport plan = free_step.memory_plan(x);
  // A block keeps six states for its derivative.
  EXPECT_LE(plan.curve.front().budget - taken_by_others(plan), M::kInside + 6 * M::kBlocks * M::kState);
  EXPECT_LE(plan.curve.back().budget - taken_by_others(plan), M::kInside + M::kBlocks * M::kState)
      << plan.to_string();
  const auto small_step = step_of_model(small_model, plan.curve.back().budget + (64 << 10));
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(free_step(x).item<float>(), small_step(x).item<float>()) << "step " << i;
  for (size_t i = 0; i < free_model.all.size(); ++i)
    EXPECT_EQ(free_model.all[i].value().to_vector<float>(), small_model.all[i].value().to_vector<float>());
}

// A product that moves up with its update reads the old value of a variable that is written before that
// update.
TEST(MemoryBudget, UpdatesBehindProductsThatMove) {
  const Tensor x = normal({32, 32}, 1, 1), mixed = normal({32, 32}, 1, 2) * 0.1f;
  const auto run = [&](bool traced) {
    const Variable w(normal({32, 32}, 1, 3)), v(normal({32, 32}, 1, 4));
    const std::function<Tensor(Tensor)> body = [&](Tensor t) {
      const Tensor old = w.value(), early = math::tanh(t);
      for (int i = 0; i < 40; ++i) t = matmul(t, mixed);
      const Tensor product = matmul(old, early) * 0.1f;
      w.assign(t);
      v.assign_sub(product);
      return reduce_sum(t);
    };
    const auto step = function(body);
    for (int i = 0; i < 2; ++i) traced ? step(x) : body(x);
    return std::pair{w.value().to_vector<float>(), v.value().to_vector<float>()};
  };
  const auto [w, v] = run(false);
  const auto [traced_w, traced_v] = run(true);
  for (size_t i = 0; i < w.size(); ++i) {
    EXPECT_NEAR(w[i], traced_w[i], 1e-5f) << i;
    EXPECT_NEAR(v[i], traced_v[i], 1e-5f) << i;
  }
}

struct DeviceBudget {
  explicit DeviceBudget(int64_t bytes) { memory::set_budget("CPU:0", bytes); }
  ~DeviceBudget() { memory::set_budget("CPU:0", 0); }
};

TEST(MemoryBudget, OfTheDevice) {
  const Model model(5);
  const Tensor x = normal({model.rows, model.width}, 5, 99);
  const auto step = step_of(model, 0);
  const MemoryReport plan = step.memory_plan(x);
  const int64_t budget = (plan.curve.front().budget + plan.curve.back().budget) / 2;
  {
    const DeviceBudget limit(budget);
    EXPECT_EQ(memory::budget(), budget);
    memory::reset_peak();
    step(x);
    EXPECT_LE(memory::stats().peak, budget);
    EXPECT_LE(memory::stats().reserved, budget);
    EXPECT_GT(step.memory_plan(x).second_runs, 0);
    // An eager op that does not fit is refused, and nothing is lost.
    EXPECT_THROW(zeros({budget}), ResourceExhaustedError);
    EXPECT_EQ(model.calls.value().item<int32_t>(), 1);
    EXPECT_THROW(memory::set_budget("CPU:0", 1), ResourceExhaustedError);
    EXPECT_THROW(memory::set_budget("CPU:0", -1), InvalidArgumentError);
    EXPECT_EQ(memory::budget(), budget);
  }
  step(x);
  EXPECT_EQ(step.memory_plan(x).second_runs, 0);
}

TEST(MemoryBudget, ManyThreadsShareOneArena) {
  const Model model(5);
  const Tensor x = normal({model.rows, model.width}, 5, 99);
  const auto square = function(
      std::function<Tensor(Tensor)>([](Tensor a) { return reduce_sum(matmul(a, a, {.transpose_a = true})); }),
      {.memory_budget = memory::stats().reserved + (1 << 20)});
  const float want = square(x).item<float>();
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) wrong += square(x).item<float>() != want;
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace rw
