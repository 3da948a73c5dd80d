// Eager programs of many kinds under a memory budget: histories that are no chains, random training steps.
// $REWIND_RANDOM_SCALE scales their number (1 = 2,000; default 0.05).
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "tests/autodiff/eager_budget.h"

namespace rw {
namespace {

// Programs whose history is no chain, by name.
Tensor unchained(const std::string& kind, const Tensor& x, const Tensor& y, int n) {
  if (kind == "states side by side") {
    Tensor h = x, c = x * 0.5f;
    for (int i = 0; i < n; ++i) {
      const Tensor gate = sigmoid(h * y);
      c = c * gate + tanh(h) * 0.3f;
      h = tanh(c) * gate;
    }
    return reduce_sum(h);
  }
  if (kind == "skips") {
    std::vector<Tensor> skip;
    Tensor h = x;
    for (int i = 0; i < n / 2; ++i) skip.push_back(h = sin(h * y));
    for (int i = n / 2; i-- > 0;) h = sin(h * skip[size_t(i)]);
    return reduce_sum(h);
  }
  if (kind == "lanes") {
    std::vector<Tensor> lanes;
    for (int k = 0; k < 8; ++k) lanes.push_back(x * (0.1f * float(k + 1)));
    for (int i = 0; i < n; ++i)
      lanes[size_t(i * 5 % 8)] = sin(lanes[size_t(i * 3 % 8)] * y + lanes[size_t(i % 8)]);
    Tensor sum = constant(0.0f);
    for (const Tensor& t : lanes) sum = sum + reduce_sum(t);
    return sum;
  }
  std::vector<Tensor> all = {x};  // far back
  for (int i = 0; i < n; ++i) all.push_back(sin(all.back() * all[(size_t(i) * 7919) % all.size()]));
  return reduce_sum(all.back() * y);
}

// How often a call runs in all, in so many percent of the memory of a free run.
double evaluations(const std::string& kind, int percent, int n) {
  const Tensor x = fill({8192}, 0.7f), y = fill({8192}, 1.1f);
  auto run = [&] {
    GradientTape tape;
    tape.watch(x);
    return bits(tape.gradient(unchained(kind, x, y, n), x));
  };
  memory::trim();
  memory::reset_peak();
  const int64_t base = memory::stats().reserved;
  const std::vector<float> free_run = run();
  const int64_t need = memory::stats().peak - base;
  const memory::Stats before = memory::stats();
  const Budget limit(held_plus(need * percent / 100));
  EXPECT_TRUE(same(free_run, run())) << kind;
  const memory::Stats after = memory::stats();
  return 1 + double(after.remade - before.remade) / double(after.remembered - before.remembered);
}

TEST(EagerBudget, HistoriesThatAreNoChainsAreMadeAgainAFewTimes) {
  EXPECT_LT(evaluations("states side by side", 50, 150), 1.8);
  EXPECT_LT(evaluations("states side by side", 15, 150), 3.5);
  EXPECT_LT(evaluations("skips", 50, 150), 2.2);
  EXPECT_LT(evaluations("lanes", 50, 150), 2);
  EXPECT_LT(evaluations("lanes", 25, 150), 3.5);
  EXPECT_LT(evaluations("far back", 50, 150), 2.2);
}

// A random eager training step.
struct RandomStep {
  uint64_t seed;
  std::vector<Variable> weights;
  Variable running;
  explicit RandomStep(uint64_t seed) : seed(seed), running(zeros({160, 160}), {.trainable = false}) {
    for (int i = 0; i < 3; ++i) weights.emplace_back(normal({160, 160}, int64_t(seed), i) * 0.1f);
  }

  std::vector<std::vector<float>> run() {
    std::mt19937_64 dice(seed);
    random::set_seed(int64_t(seed));
    const Tensor x = normal({160, 160}, int64_t(seed), 100);
    std::vector<std::vector<float>> out;
    const bool persistent = dice() % 3 == 0;
    GradientTape tape({.persistent = persistent});
    tape.watch(x);
    std::vector<Tensor> held = {x};
    Tensor h = x;
    Tensor loss = constant(0.0f);
    const int steps = 10 + int(dice() % 40);
    for (int i = 0; i < steps; ++i) {
      const Tensor& other = held[dice() % held.size()];
      const Variable& w = weights[dice() % weights.size()];
      switch (dice() % 13) {
        case 0: h = tanh(matmul(h, w)); break;
        case 1: h = h + other * 0.5f; break;
        case 2: h = nn::relu(h) - h * 0.1f; break;
        case 3: h = nn::softmax(h) * other; break;
        case 4: h = nn::dropout(h, 0.2); break;
        case 5:
          h = transpose(reshape(h, {80, 320}));
          h = reshape(h, {160, 160});
          break;
        case 6: {
          const auto parts = split(h, 4, int64_t(dice() % 2));
          h = concat({parts[3], parts[0], parts[1], parts[2]}, 0);
          h = reshape(h, {160, 160});
          break;
        }
        case 7:
          running.assign(h * 0.25f);
          h = h + running.read_value();
          break;
        case 8: h = math::cumsum(h, 1) * 0.02f; break;
        case 9: loss = loss + reduce_mean(h * other); break;
        case 10: h = sin(h) * other + h; break;
        case 11: {
          auto block = recompute_grad([&](const Tensor& t) { return sin(matmul(t, w)) * t; });
          h = block(h) * 0.5f;
          break;
        }
        case 12: {  // a tape in the tape
          GradientTape inner;
          inner.watch(h);
          const Tensor inside = reduce_sum(tanh(matmul(h, w)) * other);
          h = h + inner.gradient(inside, h).tensor() * 0.1f;
          break;
        }
      }
      if (dice() % 2) held.push_back(h);
      if (held.size() > 8 && dice() % 2) held.erase(held.begin() + 1);
      if (dice() % 10 == 0) out.push_back(bits(held.back() + 0.0f));
    }
    loss = loss + reduce_sum(h * h);
    std::vector<Tensor> sources = {x};
    for (const Variable& w : weights) sources.push_back(w.handle());
    for (int k = 0; k < (persistent ? 2 : 1); ++k)
      for (const auto& g : tape.gradient(loss, sources))
        out.push_back(g.none() ? std::vector<float>() : bits(g.tensor()));
    out.push_back(bits(loss));
    for (const Tensor& t : held) out.push_back(bits(t + 0.0f));
    out.push_back(bits(running.read_value()));
    return out;
  }
};

TEST(EagerBudget, RandomPrograms) {
  const char* text = std::getenv("REWIND_RANDOM_SCALE");
  const int count = std::max(1, int(2000 * (text ? std::atof(text) : 0.05)));
  int kept = 0, refused = 0, remaking = 0;
  for (int seed = 1; seed <= count; ++seed) {
    std::mt19937_64 dice{uint64_t(seed)};
    RandomStep program{uint64_t(seed)};
    memory::trim();
    memory::reset_peak();
    const int64_t base = memory::stats().reserved;
    const auto free_run = program.run();
    const int64_t most = memory::stats().peak;
    for (int k = 0; k < 3; ++k) {
      const int64_t budget = held_plus(0) + int64_t(double(most - base) * double(dice() % 1000) / 1000.0);
      const int64_t before = memory::stats().remade;
      memory::reset_peak();
      bool done = false;
      std::vector<std::vector<float>> result;
      {
        const Budget limit(budget);
        const auto file = dice() % 3 == 0 ? std::make_unique<Spill>(0, dice() % 2 ? 1e15 : 3e9) : nullptr;
        try {
          result = program.run();
          done = true;
        } catch (const ResourceExhaustedError&) {}
        EXPECT_LE(memory::stats().peak, budget);
      }
      if (done) ASSERT_TRUE(free_run == result) << "seed " << seed << ", budget " << budget;
      (done ? kept : refused) += 1;
      remaking += memory::stats().remade > before;
    }
    ASSERT_TRUE(free_run == program.run()) << "a refusal must leave everything as it was, seed " << seed;
  }
  EXPECT_GT(kept, count);
  EXPECT_GT(remaking, count / 2);
  std::cout << kept << " kept, " << refused << " refused, " << remaking << " made values again\n";
}

}  // namespace
}  // namespace rw
