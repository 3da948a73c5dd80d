// The lock of the history: a thread may take it again while it holds it, because making room inside an op
// comes back to the history. Every op under a budget takes it a few times, so the way without a wait is
// two atomic steps.
#pragma once

#include <atomic>
#include <cstdint>

namespace rw {

class HistoryLock {
 public:
  void lock() {
    const void* me = &self_;
    if (owner_.load(std::memory_order_relaxed) == me) {
      ++depth_;
      return;
    }
    uint32_t expected = kFree;
    if (!state_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire)) [[unlikely]]
      wait();
    owner_.store(me, std::memory_order_relaxed);
    depth_ = 1;
  }
  void unlock() {
    if (--depth_ > 0) return;
    owner_.store(nullptr, std::memory_order_relaxed);
    if (state_.exchange(kFree, std::memory_order_release) == kWaitedFor) [[unlikely]]
      state_.notify_one();
  }

 private:
  enum : uint32_t { kFree, kHeld, kWaitedFor };
  void wait() {
    while (state_.exchange(kWaitedFor, std::memory_order_acquire) != kFree)
      state_.wait(kWaitedFor, std::memory_order_relaxed);
  }
  static inline constinit thread_local char self_ = 0;  // its address names the thread

  std::atomic<uint32_t> state_{kFree};
  std::atomic<const void*> owner_{nullptr};
  uint32_t depth_ = 0;
};

}  // namespace rw
