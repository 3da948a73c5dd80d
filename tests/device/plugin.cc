// A plug-in that computes: loaded, called and unloaded by plugin_test.cc.
#include <atomic>
#include <chrono>

#include "rewind/device/parallel.h"

// Counts to 100,000 in loops for the given time; false if one of them misses something.
extern "C" __attribute__((visibility("default"))) bool compute_for(int milliseconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  while (std::chrono::steady_clock::now() < end) {
    std::atomic<int64_t> count{0};
    rw::parallel_for(100000, 100, [&](int64_t from, int64_t to) { count += to - from; });
    if (count != 100000) return false;
  }
  return true;
}
