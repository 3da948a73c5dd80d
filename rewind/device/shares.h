// Work handed out to threads: each has a run of units that lie side by side, the same in every loop of that
// size, so that what it wrote before is in its cache. Who is done with its own run goes on with those of
// others: a thread that lost its core for a while is not waited for.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

namespace rw {

class Shares {
 public:
  Shares(int64_t units, int64_t runs) : units_(units), runs_(std::clamp<int64_t>(runs, 1, kMost)) {
    for (int64_t r = 0; r < runs_; ++r) next_[size_t(r)].unit.store(first(r), std::memory_order_relaxed);
  }

  // The next units, at most `most`, for the thread that has run `mine` (any number); false when all are
  // taken.
  bool take(int64_t mine, int64_t most, int64_t& begin, int64_t& end) {
    for (int64_t i = 0; i < runs_; ++i) {
      const int64_t run = (mine + i) % runs_, last = first(run + 1);
      std::atomic<int64_t>& next = next_[size_t(run)].unit;
      if (next.load(std::memory_order_relaxed) >= last) continue;
      begin = next.fetch_add(most, std::memory_order_relaxed);
      if (begin >= last) continue;
      end = std::min(last, begin + most);
      return true;
    }
    return false;
  }

 private:
  static constexpr int64_t kMost = 16;
  struct alignas(64) Next {
    std::atomic<int64_t> unit;
  };

  int64_t first(int64_t run) const { return units_ * run / runs_; }

  const int64_t units_, runs_;
  std::array<Next, kMost> next_;
};

}  // namespace rw
