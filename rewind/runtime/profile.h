// Where time goes: while collecting, every op and every instruction leaves a span. Off, it costs one load.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace rw {

struct ProfileSpan {
  std::string name;
  std::string detail;
  int64_t start_ns = 0, end_ns = 0;  // of a steady clock
  int thread = 0;
};

extern std::atomic<bool> g_profiling;
inline bool profiling() { return g_profiling.load(std::memory_order_relaxed); }
void start_profiling();
// Stops, and gives what was collected since the start, in the order of ends.
std::vector<ProfileSpan> stop_profiling();
int64_t profile_clock();
void add_span(std::string name, std::string detail, int64_t start_ns);

}  // namespace rw
