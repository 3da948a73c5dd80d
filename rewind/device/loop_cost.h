// How many threads a loop is worth. A loop split among T threads takes about W / T + c T: its work W, and a
// handoff cost c per thread (posting, moving cache lines, waiting for the last piece). Both are measured
// while the program runs: W per loop, by its code and size; c for the process, as a median that moves with
// the machine, so that cores that lie far apart, or that other processes want, make loops take fewer threads.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace rw {

// The process's c, in nanoseconds. Thread-safe.
class HandoffCost {
 public:
  static constexpr float kLeast = 150, kMost = 2e6;

  double nanoseconds() const { return double(cost_.load(std::memory_order_relaxed)); }
  // A loop took `elapsed` on `threads` threads that worked for `busy` in all.
  void measured(double elapsed, double busy, int threads);
  // A loop ran alone that would have been split at the least possible cost. After some of them many are
  // split again, since one alone would meet sleeping helpers; where that fails, the next trial waits twice as
  // long.
  void avoided();

 private:
  static constexpr float kInitial = 500;
  static constexpr uint32_t kFirstPatience = 256, kMostPatience = 4096;
  std::atomic<float> cost_{kInitial};
  std::atomic<uint32_t> avoided_{0}, good_{0}, patience_{kFirstPatience};
};

// The threads, at most `most`, that work of so many nanoseconds is worth; 1 where a split gains next to
// nothing.
int threads_worth(double work, double handoff, int most);

// The work of loops that ran on this thread, in nanoseconds.
class LoopWork {
 public:
  // Of the loop with this code, length and grain; negative while unknown.
  float& of(const void* code, int64_t n, int64_t grain);
  // Moves an estimate towards a new figure: a faster run counts at once, a slower one by a part, since what
  // disturbs a run makes it longer.
  static void update(float& work, double measured);

 private:
  struct Entry {
    uint64_t key = 0;
    float work = -1;
  };
  std::array<Entry, 256> entries_{};
};

}  // namespace rw
