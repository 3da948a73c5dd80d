// What the training workloads share: Adam, the timing of a traced step, and the memory a step takes.
#pragma once

#include "benchmarks/workload.h"
#include "rewind/rewind.h"

namespace bench {

struct Adam {
  float learning_rate = 1e-3f;
  std::vector<rw::Variable> parameters, m, v;
  rw::Variable beta1_power{0.9f, {.trainable = false}}, beta2_power{0.999f, {.trainable = false}};

  explicit Adam(std::vector<rw::Variable> variables, float rate = 1e-3f);
  void apply(const std::vector<rw::Gradient>& grads) const;
  int64_t parameter_bytes() const;
};

// Times the first call and the steady ones of a training step, and says:
//   ms, first_call_s
//   peak_MiB   the most that tensors held while stepping, all in
//   temp_MiB   peak_MiB without parameters, optimizer state and weight gradients
// `held_before` is memory::stats().current from before the model was made.
void report_training(const std::string& work, int warm, int repeats, const Adam& adam, int64_t held_before,
                     const std::function<void()>& step);

// A step's time and memory under a budget in bytes (0: none), and the losses of its first steps.
struct BudgetRun {
  int64_t budget = 0, peak = 0;
  int64_t state = 0;  // parameters, optimizer state, weight gradients and what was held before
  double us = 0;
  std::vector<float> losses;
};
BudgetRun run_in_budget(int64_t budget, const std::function<float()>& step);
// Says ms, extra_percent over the free run, budget_MiB, peak_MiB, predicted_MiB, and whether the budget was
// kept and all losses are equal to the free run's, bit for bit.
void report_budget(const std::string& work, int percent, const BudgetRun& free_run, const BudgetRun& run,
                   const rw::MemoryReport& plan);

}  // namespace bench
