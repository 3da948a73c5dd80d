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
  reset_peak();
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

}  // namespace bench
