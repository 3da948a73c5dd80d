#include "rewind/device/loop_cost.h"

#include <algorithm>
#include <cmath>

namespace rw {

void HandoffCost::measured(double elapsed, double busy, int threads) {
  const double sample = (elapsed - busy / threads) / threads;
  const float now = cost_.load(std::memory_order_relaxed);
  // Towards the median: equal steps up and down.
  constexpr float kStep = 1.05F;
  const float next = sample > double(now) ? now * kStep : now / kStep;
  cost_.store(std::clamp(next, kLeast, kMost), std::memory_order_relaxed);
  constexpr uint32_t kProof = 256;
  if (next < now && good_.fetch_add(1, std::memory_order_relaxed) == kProof) {
    good_.store(0, std::memory_order_relaxed);
    patience_.store(kFirstPatience, std::memory_order_relaxed);
  }
}

void HandoffCost::avoided() {
  const uint32_t patience = patience_.load(std::memory_order_relaxed);
  if (avoided_.fetch_add(1, std::memory_order_relaxed) < patience) return;
  avoided_.store(0, std::memory_order_relaxed);
  patience_.store(std::min(2 * patience, kMostPatience), std::memory_order_relaxed);
  cost_.store(std::min(kInitial, cost_.load(std::memory_order_relaxed)), std::memory_order_relaxed);
}

int threads_worth(double work, double handoff, int most) {
  // W / T + c T is least at sqrt(W / c) and flat around it: three quarters of so many threads take a
  // twenty-fifth longer by this reckoning, and less in fact, where a handoff costs more the more there are.
  const double least = std::sqrt(work / handoff);
  const int threads = int(std::min<double>(most, std::max(std::min(least, 2.0), 0.75 * least + 0.5)));
  constexpr double kGain = 0.9;  // of the time alone
  if (threads < 2 || work / threads + handoff * threads > kGain * work) return 1;
  return threads;
}

float& LoopWork::of(const void* code, int64_t n, int64_t grain) {
  uint64_t key = reinterpret_cast<uintptr_t>(code);
  for (const int64_t v : {n, grain}) key = (key ^ uint64_t(v)) * 0x9e3779b97f4a7c15u, key ^= key >> 32;
  Entry& entry = entries_[key % entries_.size()];
  if (entry.key != key) entry = {key, -1};
  return entry.work;
}

void LoopWork::update(float& work, double measured) {
  const float now = float(measured);
  if (work < 0 || now < work) work = now;
  else work += (now - work) / 8;
}

}  // namespace rw
