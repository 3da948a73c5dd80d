#include "benchmarks/training.h"

#include <cstdio>
#include <cstdlib>

#include "rewind/report/profiler.h"

namespace bench {

Adam::Adam(std::vector<rw::Variable> variables, float rate)
    : learning_rate(rate), parameters(std::move(variables)) {
  for (const rw::Variable& p : parameters) {
    m.emplace_back(rw::zeros_like(p), rw::VariableOptions{.trainable = false});
    v.emplace_back(rw::zeros_like(p), rw::VariableOptions{.trainable = false});
  }
}

void Adam::apply(const std::vector<rw::Gradient>& grads) const {
  for (size_t i = 0; i < parameters.size(); ++i) {
    rw::raw_op("ResourceApplyAdam", {parameters[i].handle(), m[i].handle(), v[i].handle(), beta1_power,
                                     beta2_power, learning_rate, 0.9f, 0.999f, 1e-7f, grads[i]});
  }
  beta1_power.assign(beta1_power * 0.9f);
  beta2_power.assign(beta2_power * 0.999f);
}

int64_t Adam::parameter_bytes() const {
  int64_t bytes = 0;
  for (const rw::Variable& p : parameters) bytes += p.shape().num_elements() * int64_t(sizeof(float));
  return bytes;
}

void report_training(const std::string& work, int warm, int repeats, const Adam& adam, int64_t held_before,
                     const std::function<void()>& step) {
  constexpr double kMiB = 1024.0 * 1024.0;
  const double start = now_us();
  step();
  const double first_call_s = (now_us() - start) / 1e6;
  rw::memory::reset_peak();
  const double us = median_us(warm, repeats, step);
  const double peak = double(rw::memory::stats().peak - held_before);
  // Parameters, two moments, gradients.
  const double state = 4.0 * double(adam.parameter_bytes());
  say(work, "rewind", "function",
      {{"ms", us / 1e3},
       {"first_call_s", first_call_s},
       {"peak_MiB", peak / kMiB},
       {"temp_MiB", (peak - state) / kMiB}});
  // Where the time goes, on request: REWIND_PROFILE=1 ./bench gpt_baby
  if (std::getenv("REWIND_PROFILE")) {
    rw::profiler::start();
    for (int i = 0; i < 5; ++i) step();
    fprintf(stderr, "%s", rw::profiler::stop_as_table().c_str());
  }
}

BudgetRun run_in_budget(int64_t budget, const std::function<float()>& step) {
  constexpr int kCompared = 3;
  BudgetRun run;
  run.budget = budget;
  rw::memory::reset_peak();
  for (int i = 0; i < kCompared; ++i) run.losses.push_back(step());
  run.us = median_us(1, 7, [&] { step(); });
  run.peak = rw::memory::stats().peak;
  return run;
}

void report_budget(const std::string& work, int percent, const BudgetRun& free_run, const BudgetRun& run,
                   const rw::MemoryReport& plan) {
  constexpr double kMiB = 1024.0 * 1024.0;
  say(work, "rewind", "budget_" + std::to_string(percent),
      {{"ms", run.us / 1e3},
       {"extra_percent", 100 * (run.us / free_run.us - 1)},
       {"budget_MiB", double(run.budget) / kMiB},
       {"peak_MiB", double(run.peak) / kMiB},
       {"predicted_MiB", double(plan.predicted_peak) / kMiB},
       {"planned_extra_percent", 100 * plan.extra_compute},
       {"kept", run.peak <= run.budget ? 1.0 : 0.0},
       {"bit_equal", run.losses == free_run.losses ? 1.0 : 0.0}});
}

}  // namespace bench
