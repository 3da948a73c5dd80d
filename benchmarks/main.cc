// Rewind's benchmark binary: rewind_bench [WORK...]. Normally run by ./bench.
#include <sys/resource.h>

#include <cstdio>

#include "benchmarks/workload.h"

namespace bench {

void say(const std::string& work, const std::string& peer, const std::string& variant,
         const std::vector<Figure>& figures) {
  printf("{\"work\": \"%s\", \"peer\": \"%s\"", work.c_str(), peer.c_str());
  if (!variant.empty()) printf(", \"variant\": \"%s\"", variant.c_str());
  for (const Figure& f : figures) printf(", \"%s\": %.6g", f.key.c_str(), f.value);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  printf(", \"peak_rss_MiB\": %.1f}\n", double(usage.ru_maxrss) / 1024);
  fflush(stdout);
}

}  // namespace bench

int main(int argc, char** argv) {
  std::vector<bench::Workload> all;
  for (const auto& list : {bench::eager_workloads(), bench::mnist_workloads(), bench::matmul_workloads(),
                           bench::bandwidth_workloads(), bench::function_workloads(), bench::loop_workloads(),
                           bench::cnn_workloads(), bench::gpt_workloads(), bench::keras_workloads(),
                           bench::kernel_workloads(), bench::data_workloads(), bench::chain_workloads(),
                           bench::eager_chain_workloads(), bench::budget_workloads()})
    all.insert(all.end(), list.begin(), list.end());
  for (const bench::Workload& w : all) {
    bool wanted = argc < 2;
    for (int i = 1; i < argc; ++i) wanted |= w.name == argv[i];
    if (wanted) w.run();
  }
}
