// Deep chains of elementwise layers: chain_nl is 100 x 100 layers x += sin(x*y)*z of 20,000 floats with the
// gradients of x, y and z; loop_budget is a loop of 10,000 iterations inside a budget.
#include "benchmarks/workload.h"
#include "rewind/rewind.h"

namespace bench {
namespace {

using rw::Tensor;

constexpr double kMiB = 1024.0 * 1024.0;
constexpr int kSteps = 10'000;  // of the loop

void chain_nl() {
  constexpr int64_t kSize = 20'000;
  constexpr int kBlocks = 100, kLayers = 100;
  const Tensor x0 = rw::ones({kSize});
  const Tensor y = rw::fill({kSize}, 0.5f);
  const Tensor z = rw::fill({kSize}, 1e-2f);
  for (const bool recompute : {true, false}) {
    const std::string variant = recompute ? "recompute_grad" : "plain";
    if (!asked_part()) run_part("chain_nl", variant);
    if (!asked_part() || asked_part() != variant) continue;
    const auto step = rw::function([recompute](Tensor x0, Tensor y, Tensor z) {
      const auto layers = [&](Tensor x) {
        for (int i = 0; i < kLayers; ++i) x = x + rw::math::sin(x * y) * z;
        return x;
      };
      const auto again = rw::recompute_grad(layers);
      rw::GradientTape tape;
      for (const Tensor& t : {x0, y, z}) tape.watch(t);
      Tensor x = x0;
      for (int i = 0; i < kBlocks; ++i) x = recompute ? again(x) : layers(x);
      const std::vector<rw::Gradient> grads = tape.gradient(rw::reduce_sum(x), std::vector<Tensor>{x0, y, z});
      return std::vector<Tensor>{grads[0].tensor(), grads[1].tensor(), grads[2].tensor()};
    });
    const double start = now_us();
    step(x0, y, z);
    const double first_call_s = (now_us() - start) / 1e6;
    reset_peak();
    const double us = median_us(1, 7, [&] { step(x0, y, z); });
    const int64_t values = 6 * kSize * int64_t(sizeof(float));  // three inputs, three gradients
    say("chain_nl", "rewind", variant,
        {{"ms", us / 1e3},
         {"temp_MiB", double(rw::memory::stats().peak - values) / kMiB},
         {"first_call_s", first_call_s}});
  }
}

void loop_budget() {
  const Tensor x = rw::random::normal({1024});
  const Tensor y = rw::random::normal({1024});
  const auto gradient = [](int64_t budget) {
    return rw::function(
        [](Tensor x, Tensor y) {
          rw::GradientTape tape;
          tape.watch(x);
          const auto [i, r] = rw::while_loop(
              [](Tensor i, Tensor) { return i < kSteps; },
              [&](Tensor i, Tensor v) { return std::tuple{i + 1, rw::math::sin(v * y) * 0.5f + v}; },
              std::tuple{rw::constant(0), x});
          return Tensor(tape.gradient(rw::reduce_sum(r), x));
        },
        {.memory_budget = budget});
  };
  const rw::MemoryReport least = gradient(0).memory_plan(x, y);
  // Room for 50 states.
  const int64_t start = least.curve.back().budget + 64;
  const rw::MemoryReport small = gradient(start).memory_plan(x, y);
  const int64_t state = small.loops.at(0).state_bytes;
  const int64_t budget = start + (50 - small.loops.at(0).states) * state + state / 2;
  const auto step = gradient(budget);
  const rw::MemoryReport plan = step.memory_plan(x, y);
  reset_peak();
  const double us = median_us(1, 3, [&] { step(x, y); });
  const int64_t peak = rw::memory::stats().peak;
  const auto free_step = gradient(0);
  const double free_us = median_us(1, 3, [&] { free_step(x, y); });
  say("loop_budget", "rewind", "states_50",
      {{"ms", us / 1e3},
       {"free_ms", free_us / 1e3},
       {"states", double(plan.loops.at(0).states)},
       {"advances", double(plan.loops.at(0).advances)},
       {"budget_MiB", double(budget) / kMiB},
       {"peak_MiB", double(peak) / kMiB},
       {"kept", peak <= budget ? 1.0 : 0.0}});
}

}  // namespace

std::vector<Workload> chain_workloads() { return {{"chain_nl", chain_nl}, {"loop_budget", loop_budget}}; }

}  // namespace bench
