#include "rewind/compiler/plan_memory.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace rw {
namespace {

constexpr int64_t kAlignment = 64;
// Packing compares each value with those placed before it; longer programs go by time.
constexpr size_t kMostPacked = 4000;
// Turns of packing by one order, and what they may compare in all.
constexpr size_t kMostTurns = 40, kMostCompared = 4'000'000;

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

using Order = std::vector<size_t>;
using Keys = std::vector<std::pair<double, double>>;  // by value

// In this order, each at the lowest offset that is free for all of its life.
MemoryPlan place_in(const Order& order, std::span<const Lifetime> lives) {
  MemoryPlan plan{std::vector<int64_t>(lives.size(), 0), 0};
  Order placed;  // by offset
  placed.reserve(lives.size());
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

bool larger(const Lifetime& a, const Lifetime& b) {
  return std::tie(b.bytes, a.first, a.last) < std::tie(a.bytes, b.first, b.last);
}

// Those with the greatest key first. Only values that are alike in everything may come in either order.
Order order_by(std::span<const Lifetime> lives, const Keys& key) {
  Order order(lives.size());
  for (size_t i = 0; i < lives.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return key[a] != key[b] ? key[a] > key[b] : larger(lives[a], lives[b]);
  });
  return order;
}

// By value: the most bytes that are alive together at some moment of its life.
std::vector<int64_t> fullest_moments(std::span<const Lifetime> lives) {
  int32_t end = 0;
  for (const Lifetime& l : lives) end = std::max(end, l.last + 1);
  std::vector<int64_t> alive(size_t(end) + 1, 0);
  for (const Lifetime& l : lives) {
    alive[size_t(l.first)] += rounded(l.bytes);
    alive[size_t(l.last) + 1] -= rounded(l.bytes);
  }
  for (size_t i = 1; i < alive.size(); ++i) alive[i] += alive[i - 1];
  std::vector<int64_t> most(lives.size(), 0);
  for (size_t i = 0; i < lives.size(); ++i)
    most[i] = *std::max_element(alive.begin() + lives[i].first, alive.begin() + lives[i].last + 1);
  return most;
}

// Packs without holes, or nearly so, in a few turns: what lies on top of a plan is placed earlier in the
// next.
MemoryPlan packed(std::span<const Lifetime> lives) {
  const std::vector<int64_t> moments = fullest_moments(lives);
  const int64_t least = moments.empty() ? 0 : *std::max_element(moments.begin(), moments.end());
  Keys size, crowded, large;
  for (size_t i = 0; i < lives.size(); ++i) {
    const auto bytes = double(lives[i].bytes);
    const auto length = double(lives[i].last - lives[i].first + 1);
    size.emplace_back(bytes, 0);
    crowded.emplace_back(double(moments[i]), bytes * length);  // the fullest moment first
    large.emplace_back(bytes * std::sqrt(length), 0);
  }
  MemoryPlan best = place_in(order_by(lives, size), lives);
  const size_t turns = std::min(kMostTurns, kMostCompared / (1 + lives.size() * lives.size()));
  for (const Keys* keys : {&crowded, &large}) {
    Order order = order_by(lives, *keys);
    for (size_t turn = 0; turn < turns && best.bytes > least; ++turn) {
      MemoryPlan plan = place_in(order, lives);
      auto top = order.end();
      for (auto it = order.begin(); it != order.end(); ++it)
        if (plan.offsets[*it] + rounded(lives[*it].bytes) == plan.bytes &&
            (top == order.end() || larger(lives[*it], lives[*top])))
          top = it;
      std::rotate(order.begin() + (top - order.begin()) / 2, top, top + 1);
      if (plan.bytes < best.bytes) best = std::move(plan);
    }
  }
  return best;
}

// The same lives in other numbers: an instruction counts if a life begins there, bytes as the arena rounds
// them. So plans do not depend on how their maker counts: the planner and the program come to one arena.
std::vector<Lifetime> renumbered(std::span<const Lifetime> lives) {
  std::vector<int32_t> firsts;
  for (const Lifetime& l : lives) firsts.push_back(l.first);
  std::sort(firsts.begin(), firsts.end());
  firsts.erase(std::unique(firsts.begin(), firsts.end()), firsts.end());
  const auto number_of = [&](int32_t place) {
    return int32_t(std::upper_bound(firsts.begin(), firsts.end(), place) - firsts.begin()) - 1;
  };
  std::vector<Lifetime> result;
  for (const Lifetime& l : lives) result.push_back({rounded(l.bytes), number_of(l.first), number_of(l.last)});
  return result;
}

}  // namespace

int64_t arena_rounded(int64_t bytes) {
  return std::max<int64_t>(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
}

MemoryPlan plan_memory(std::span<const Lifetime> counted) {
  const std::vector<Lifetime> lives = renumbered(counted);
  MemoryPlan plan = by_time(lives);
  if (lives.size() > kMostPacked) return plan;
  MemoryPlan other = packed(lives);
  return other.bytes < plan.bytes ? other : plan;
}

}  // namespace rw
