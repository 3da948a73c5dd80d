#include "rewind/compiler/plan_memory.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace rw {
namespace {

constexpr int64_t kAlignment = 64;
// Placing by size compares each value with those placed before it; longer programs go by time.
constexpr size_t kMostBySize = 4000;

int64_t rounded(int64_t bytes) { return arena_rounded(bytes); }

// In the order of time, each value in the smallest gap that holds it.
MemoryPlan by_time(std::span<const Lifetime> lives) {
  MemoryPlan plan{std::vector<int64_t>(lives.size(), 0), 0};
  std::vector<size_t> starts(lives.size());
  for (size_t i = 0; i < lives.size(); ++i) starts[i] = i;
  std::vector<size_t> ends = starts;
  std::stable_sort(starts.begin(), starts.end(), [&](size_t a, size_t b) {
    return std::tie(lives[a].first, lives[a].bytes, lives[a].last) <
           std::tie(lives[b].first, lives[b].bytes, lives[b].last);
  });
  std::stable_sort(ends.begin(), ends.end(), [&](size_t a, size_t b) {
    return std::tie(lives[a].last, lives[a].bytes, lives[a].first) <
           std::tie(lives[b].last, lives[b].bytes, lives[b].first);
  });
  std::map<int64_t, int64_t> gaps;          // offset -> bytes
  std::multimap<int64_t, int64_t> by_size;  // bytes -> offset
  auto erase_gap = [&](std::map<int64_t, int64_t>::iterator it) {
    for (auto s = by_size.lower_bound(it->second); s != by_size.end() && s->first == it->second; ++s) {
      if (s->second != it->first) continue;
      by_size.erase(s);
      break;
    }
    gaps.erase(it);
  };
  auto add_gap = [&](int64_t at, int64_t bytes) {
    auto next = gaps.lower_bound(at);
    if (next != gaps.end() && at + bytes == next->first) {
      bytes += next->second;
      erase_gap(next);
    }
    auto before = gaps.lower_bound(at);
    if (before != gaps.begin()) {
      --before;
      if (before->first + before->second == at) {
        at = before->first;
        bytes += before->second;
        erase_gap(before);
      }
    }
    gaps.emplace(at, bytes);
    by_size.emplace(bytes, at);
  };
  size_t e = 0;
  for (const size_t i : starts) {
    while (e < ends.size() && lives[ends[e]].last < lives[i].first) {
      add_gap(plan.offsets[ends[e]], rounded(lives[ends[e]].bytes));
      ++e;
    }
    const int64_t bytes = rounded(lives[i].bytes);
    if (const auto fit = by_size.lower_bound(bytes); fit != by_size.end()) {
      const int64_t at = fit->second;
      const int64_t size = fit->first;
      erase_gap(gaps.find(at));
      plan.offsets[i] = at;
      if (size > bytes) add_gap(at + bytes, size - bytes);
      continue;
    }
    // A gap at the very end grows.
    if (!gaps.empty() && std::prev(gaps.end())->first + std::prev(gaps.end())->second == plan.bytes) {
      const auto last = std::prev(gaps.end());
      plan.offsets[i] = last->first;
      erase_gap(last);
    } else {
      plan.offsets[i] = plan.bytes;
    }
    plan.bytes = plan.offsets[i] + bytes;
  }
  return plan;
}

// The largest first, each at the lowest offset that is free for all of its life.
MemoryPlan by_size(std::span<const Lifetime> lives) {
  MemoryPlan plan{std::vector<int64_t>(lives.size(), 0), 0};
  std::vector<size_t> order(lives.size());
  for (size_t i = 0; i < lives.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::tie(lives[b].bytes, lives[a].first, lives[a].last) <
           std::tie(lives[a].bytes, lives[b].first, lives[b].last);
  });
  std::vector<size_t> placed;  // by offset
  for (const size_t i : order) {
    const int64_t bytes = rounded(lives[i].bytes);
    int64_t at = 0;
    for (const size_t p : placed) {
      if (lives[p].last < lives[i].first || lives[i].last < lives[p].first) continue;
      if (at + bytes <= plan.offsets[p]) break;
      at = std::max(at, plan.offsets[p] + rounded(lives[p].bytes));
    }
    plan.offsets[i] = at;
    plan.bytes = std::max(plan.bytes, at + bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), i,
                                   [&](size_t a, size_t b) { return plan.offsets[a] < plan.offsets[b]; }),
                  i);
  }
  return plan;
}

}  // namespace

int64_t arena_rounded(int64_t bytes) {
  return std::max<int64_t>(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
}

MemoryPlan plan_memory(std::span<const Lifetime> lives) {
  MemoryPlan plan = by_time(lives);
  if (lives.size() > kMostBySize) return plan;
  MemoryPlan other = by_size(lives);
  return other.bytes < plan.bytes ? other : plan;
}

}  // namespace rw
