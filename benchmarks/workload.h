// Named workloads with one way of timing them. Each prints one JSON object a line.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace bench {

inline double now_us() {
  using namespace std::chrono;
  return duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
}

// Median over `repeats` of the time of f, in microseconds, after `warm` calls.
inline double median_us(int warm, int repeats, const std::function<void()>& f) {
  for (int i = 0; i < warm; ++i) f();
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    const double start = now_us();
    f();
    times.push_back(now_us() - start);
  }
  std::nth_element(times.begin(), times.begin() + repeats / 2, times.end());
  return times[size_t(repeats / 2)];
}

// {"work": ..., "peer": ..., "variant": ..., key: value, ...}; an empty variant is left out.
struct Figure {
  std::string key;
  double value;
};
void say(const std::string& work, const std::string& peer, const std::string& variant,
         const std::vector<Figure>& figures);

struct Workload {
  std::string name;
  std::function<void()> run;
};
std::vector<Workload> eager_workloads();
std::vector<Workload> mnist_workloads();
std::vector<Workload> bandwidth_workloads();
std::vector<Workload> matmul_workloads();
std::vector<Workload> function_workloads();
std::vector<Workload> loop_workloads();
std::vector<Workload> chain_workloads();
std::vector<Workload> cnn_workloads();
std::vector<Workload> gpt_workloads();
std::vector<Workload> keras_workloads();
std::vector<Workload> kernel_workloads();
std::vector<Workload> data_workloads();
std::vector<Workload> eager_chain_workloads();
std::vector<Workload> budget_workloads();

}  // namespace bench
