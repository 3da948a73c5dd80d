// Threads that wait asleep and help one caller at a time with its pieces of work. The caller never waits for
// a helper that has not begun: what nobody else took it does itself, so on a crowded machine, where helpers
// get a core late or never, a loop takes no longer than on one thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "rewind/base/function_ref.h"

namespace rw {

class HelperThreads {
 public:
  HelperThreads() = default;
  ~HelperThreads() { stop(); }
  HelperThreads(const HelperThreads&) = delete;
  HelperThreads& operator=(const HelperThreads&) = delete;

  // Runs work(i) once for each i in [0, pieces), on the caller and up to `helpers` others, and returns when
  // all are done. Helpers are woken at once, or, if the caller may be through soon, only when it has worked
  // for kAlone. While another caller is served, or after stop(), the caller does everything.
  void run(int64_t pieces, int helpers, bool wake_at_once, FunctionRef<void(int64_t)> work);
  // Ends the threads; what runs is finished first.
  void stop();

 private:
  struct Job;
  void call(Job& job, int helpers);
  void help();

  std::mutex serving_;  // held by the caller that is served
  std::mutex mutex_;
  std::condition_variable wanted_, done_;
  Job* job_ = nullptr;
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace rw
