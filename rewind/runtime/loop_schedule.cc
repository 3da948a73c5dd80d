#include "rewind/runtime/loop_schedule.h"

#include <algorithm>
#include <limits>

namespace rw {
namespace {

constexpr int64_t kMany = std::numeric_limits<int64_t>::max() / 4;

// Binomial(n, k), or kMany where it is more.
int64_t choose(int64_t n, int64_t k) {
  if (k < 0 || k > n) return 0;
  k = std::min(k, n - k);
  __int128 c = 1;
  for (int64_t i = 1; i <= k; ++i) {
    c = c * (n - k + i) / i;
    if (c > kMany) return kMany;
  }
  return int64_t(c);
}

// The longest loop of which no iteration is run again more than `times` times.
int64_t reach(int64_t states, int64_t times) { return times < 0 ? 0 : choose(states + times, states); }

int64_t times_for(int64_t steps, int64_t states) {
  int64_t times = 0;
  while (reach(states, times) < steps) ++times;
  return times;
}

}  // namespace

int64_t least_advances(int64_t steps, int64_t states) {
  if (steps <= 1) return 0;
  if (states <= 1) return steps * (steps - 1) / 2;
  const int64_t times = times_for(steps, states);
  return times * steps - choose(states + times, times - 1);
}

int64_t next_kept(int64_t steps, int64_t states) {
  if (steps <= 1 || states <= 1) return 0;
  const int64_t times = times_for(steps, states);
  return std::max<int64_t>({1, reach(states, times - 2), steps - reach(states - 1, times)});
}

StateSchedule::StateSchedule(int64_t steps, int64_t states)
    : steps_(steps), states_(states), grows_(states <= 0) {
  if (!grows_) return;
  states_ = 1;
  while (steps_ >= 0 && reach(states_, 2) < steps_) ++states_;
}

StateSchedule::Decision StateSchedule::offer(int64_t step) {
  if (steps_ < 0) return online(step);
  if (step != next_) return {};
  levels_.push_back(0);
  const int64_t ahead = next_kept(steps_ - step, states_ - int64_t(levels_.size()) + 1);
  next_ = ahead > 0 ? step + ahead : -1;
  return {.keep = true};
}

StateSchedule::Decision StateSchedule::online(int64_t step) {
  if (step == 0) {
    levels_.push_back(std::numeric_limits<int>::max());
    return {.keep = true};
  }
  while (grows_ && reach(states_, 2) <= step) ++states_;
  if (int64_t(levels_.size()) < states_) {
    levels_.push_back(0);
    return {.keep = true};
  }
  if (levels_.size() == 1) return {};
  // The last one with one of a higher level behind it is not needed for the best number of repetitions.
  int highest = -1;
  for (size_t k = levels_.size(); k-- > 1;) {
    if (levels_[k] < highest) {
      levels_.erase(levels_.begin() + int64_t(k));
      levels_.push_back(0);
      return {.keep = true, .drop = int(k)};
    }
    highest = std::max(highest, levels_[k]);
  }
  ++levels_.back();
  return {.keep = true, .drop = int(levels_.size()) - 1};
}

}  // namespace rw
