// Threads that help callers with a job. A caller takes as many idle helpers as it wants, each of which runs
// the job once, and never waits for a helper that has not begun: such a one is called off. On a busy machine,
// where helpers get a core late or never, a job takes no longer than on its caller alone. A helper waits for
// the next job by spinning for some tens of microseconds, so that jobs in quick succession cost no system
// call, and then sleeps, so that it does not keep others from its core.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

#include "rewind/base/function_ref.h"

namespace rw {

class ThreadPool {
 public:
  static constexpr int kMostHelpers = 255;

  ThreadPool();
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Runs job(0) on the caller and job(1), job(2), ... on up to `helpers` others; returns when all that began
  // are done, and says how many helpers began. Any number of threads may call at once: each has helpers of
  // its own, if any are idle. Thread-safe. After stop() the caller runs alone. The job must not throw.
  int run(int helpers, FunctionRef<void(int)> job);

  // Ends the threads; what runs is finished first.
  void stop();

 private:
  struct Helper;
  static constexpr int kWords = (kMostHelpers + 64) / 64;

  void grow(int count);
  int claim(int wanted, std::array<uint8_t, kMostHelpers>& claimed);
  void release(const std::array<uint8_t, kMostHelpers>& claimed, int count);
  static void help(Helper& helper);

  std::array<std::atomic<uint64_t>, kWords> idle_{};  // a bit per helper that no caller holds
  std::array<std::unique_ptr<Helper>, kMostHelpers> helpers_;
  std::atomic<int> count_{0};
  std::mutex growing_;
  bool stopped_ = false;  // by growing_
};

}  // namespace rw
