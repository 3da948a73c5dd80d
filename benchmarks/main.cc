// Rewind's benchmark binary: rewind_bench [WORK...]. Normally run by ./bench.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "benchmarks/workload.h"
#include "rewind/tensor/config.h"

namespace bench {
namespace {

constexpr const char* kPart = "REWIND_BENCH_PART";
int64_t g_most_accounted = 0;  // before the last reset

int64_t most_accounted() { return std::max(g_most_accounted, rw::memory::stats().peak); }

}  // namespace

// Of this program: what getrusage tells began with the process that started it.
double peak_rss_mib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) / 1024;
  return 0;
}

void reset_peak() {
  g_most_accounted = most_accounted();
  rw::memory::reset_peak();
}

const char* asked_part() { return std::getenv(kPart); }

void run_part(const std::string& work, const std::string& part) {
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    setenv(kPart, part.c_str(), 1);
    execl("/proc/self/exe", "rewind_bench", work.c_str(), nullptr);
    _exit(1);
  }
  waitpid(child, nullptr, 0);
}

void say(const std::string& work, const std::string& peer, const std::string& variant,
         const std::vector<Figure>& figures) {
  printf("{\"work\": \"%s\", \"peer\": \"%s\"", work.c_str(), peer.c_str());
  if (!variant.empty()) printf(", \"variant\": \"%s\"", variant.c_str());
  for (const Figure& f : figures) printf(", \"%s\": %.6g", f.key.c_str(), f.value);
  printf(", \"peak_rss_MiB\": %.1f, \"accounted_MiB\": %.1f}\n", peak_rss_mib(),
         double(most_accounted()) / (1 << 20));
  fflush(stdout);
}

}  // namespace bench

int main(int argc, char** argv) {
  std::vector<bench::Workload> all;
  for (const auto& list :
       {bench::eager_workloads(), bench::mnist_workloads(), bench::matmul_workloads(),
        bench::bandwidth_workloads(), bench::function_workloads(), bench::loop_workloads(),
        bench::cnn_workloads(), bench::gpt_workloads(), bench::keras_workloads(), bench::kernel_workloads(),
        bench::data_workloads(), bench::chain_workloads(), bench::eager_chain_workloads(),
        bench::budget_workloads(), bench::condition_workloads(), bench::vanishing_workloads(),
        bench::file_workloads()})
    all.insert(all.end(), list.begin(), list.end());
  for (const bench::Workload& w : all) {
    bool wanted = argc < 2;
    for (int i = 1; i < argc; ++i) wanted |= w.name == argv[i];
    if (!wanted) continue;
    bench::begin_work(w.name);
    w.run();
  }
}
