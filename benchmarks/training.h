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

// A step of cnn_b64 and of gpt_small, for works that compare with them by turns.
std::function<void()> cnn_b64_step();
std::function<void()> gpt_small_step();

}  // namespace bench
