#include "rewind/runtime/profile.h"

#include <time.h>

#include <chrono>
#include <cstdlib>
#include <mutex>
#include <string_view>

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

// REWIND_PROFILE=cpu counts what this thread really ran: on a busy machine, with one thread, it is the better
// clock.
int64_t profile_clock() {
  static const bool cpu = [] {
    const char* kind = std::getenv("REWIND_PROFILE");
    return kind && std::string_view(kind) == "cpu";
  }();
  if (cpu) {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return int64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
  }
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
