#include "rewind/runtime/profile.h"

#include <chrono>
#include <mutex>

namespace rw {
namespace {

struct Collected {
  std::mutex mutex;
  std::vector<ProfileSpan> spans;
};
Collected& collected() {
  static auto* c = new Collected;
  return *c;
}

int this_thread() {
  static std::atomic<int> next{0};
  thread_local const int id = next++;
  return id;
}

}  // namespace

std::atomic<bool> g_profiling{false};

int64_t profile_clock() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void start_profiling() {
  const std::lock_guard lock(collected().mutex);
  collected().spans.clear();
  g_profiling = true;
}

std::vector<ProfileSpan> stop_profiling() {
  g_profiling = false;
  const std::lock_guard lock(collected().mutex);
  return std::move(collected().spans);
}

void add_span(std::string name, std::string detail, int64_t start_ns) {
  const int64_t end = profile_clock();
  const std::lock_guard lock(collected().mutex);
  collected().spans.push_back({std::move(name), std::move(detail), start_ns, end, this_thread()});
}

}  // namespace rw
