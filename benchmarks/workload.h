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
double median_us(int warm, int repeats, const std::function<void()>& f);
// The work that the medians from here on belong to.
void begin_work(const std::string& name);

// {"work": ..., "peer": ..., "variant": ..., key: value, ...}; an empty variant is left out. Behind the
// figures follow the process's peak resident size and the most that the library accounted for, both since its
// start:
//   peak_rss_MiB, accounted_MiB
struct Figure {
  std::string key;
  double value;
};
void say(const std::string& work, const std::string& peer, const std::string& variant,
         const std::vector<Figure>& figures);

double peak_rss_mib();
// rw::memory::reset_peak() that accounted_MiB sees through.
void reset_peak();
// Runs one part of a workload in a process of its own, whose peak resident size is its own. The process runs
// the workload again, which asks for the part.
void run_part(const std::string& work, const std::string& part);
const char* asked_part();  // nullptr: all of it

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
std::vector<Workload> condition_workloads();
std::vector<Workload> vanishing_workloads();
std::vector<Workload> file_workloads();

}  // namespace bench
