#include "rewind/device/core_count.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <set>
#include <thread>
#include <vector>

#ifdef __linux__
#include <sched.h>
#endif

namespace rw {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The number that `text` starts with, or `otherwise`.
double number_in(std::string_view text, double otherwise) {
  double value = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// Processors of processor time per unit of time that a control group and those around it may use.
double quota(const std::string& root) {
  double least = 1e9;
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const size_t names = line.find(':');
    const size_t path = names == std::string::npos ? names : line.find(':', names + 1);
    if (path == std::string::npos) continue;
    const std::string controllers = line.substr(names + 1, path - names - 1);
    const bool unified = controllers.empty();
    if (!unified && ("," + controllers + ",").find(",cpu,") == std::string::npos) continue;
    const std::string mounted = root + "/sys/fs/cgroup" + (unified ? "" : "/" + controllers);
    for (std::string group = line.substr(path + 1);; group.resize(group.rfind('/'))) {
      if (unified) {  // "max 100000" or "150000 100000"
        const std::string limit = first_line(mounted + group + "/cpu.max");
        const size_t space = limit.find(' ');
        if (space != std::string::npos && limit[0] != 'm')
          least = std::min(least,
                           number_in(limit, 1e9) / number_in(std::string_view(limit).substr(space + 1), 1));
      } else {
        const double used = number_in(first_line(mounted + group + "/cpu.cfs_quota_us"), -1);
        const double period = number_in(first_line(mounted + group + "/cpu.cfs_period_us"), -1);
        if (used > 0 && period > 0) least = std::min(least, used / period);
      }
      if (group.rfind('/') == std::string::npos) break;
    }
  }
  return least;
}

std::vector<int> allowed_processors() {
  std::vector<int> allowed;
#ifdef __linux__
  constexpr int kMost = 4096;
  std::vector<cpu_set_t> sets(kMost / CPU_SETSIZE);
  if (sched_getaffinity(0, sets.size() * sizeof(cpu_set_t), sets.data()) == 0)
    for (int i = 0; i < kMost; ++i)
      if (CPU_ISSET(i % CPU_SETSIZE, &sets[size_t(i / CPU_SETSIZE)])) allowed.push_back(i);
#endif
  if (allowed.empty())
    for (int i = 0; i < int(std::max(1U, std::thread::hardware_concurrency())); ++i) allowed.push_back(i);
  return allowed;
}

}  // namespace

int usable_cores(const std::string& root, std::span<const int> allowed) {
  std::set<std::string> cores;  // by the list of a core's processors
  for (const int i : allowed) {
    const std::string topology = root + "/sys/devices/system/cpu/cpu" + std::to_string(i) + "/topology/";
    std::string core = first_line(topology + "core_cpus_list");
    if (core.empty()) core = first_line(topology + "thread_siblings_list");
    if (core.empty()) core = "processor " + std::to_string(i);
    cores.insert(core);
  }
  const double limit = std::ceil(std::max(1.0, quota(root)));
  return std::max(1, int(std::min(double(cores.size()), limit)));
}

int default_thread_count() {
  static const int count = [] {
    if (const char* told = std::getenv("OMP_NUM_THREADS"))
      if (const double n = number_in(told, 0); n >= 1) return int(std::min(n, 1024.0));
    return usable_cores("", allowed_processors());
  }();
  return count;
}

}  // namespace rw
