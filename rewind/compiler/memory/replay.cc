#include "rewind/compiler/memory/replay.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace rw {
namespace {

constexpr int kMostTurns = 8;
constexpr double kUseless = 1e300;
constexpr int kNarrowWindow = 3;

// Smaller blocks are kept: remaking them costs more bookkeeping than they weigh.
int64_t smallest_dropped(const PlanProblem& p) {
  int64_t largest = 0;
  for (const PlanBlock& b : p.blocks) largest = std::max(largest, b.bytes);
  return std::max<int64_t>(64, largest / 512);
}

}  // namespace

Replay::Replay(const PlanProblem& problem, Late late, int64_t* work)
    : problem_(problem),
      work_(work),
      uses_(problem.blocks.size()),
      late_from_(problem.blocks.size(), -1),
      last_early_(problem.blocks.size(), 0),
      droppable_(problem.blocks.size(), 0),
      dropped_(problem.blocks.size(), 0),
      lives_(problem.blocks.size()) {
  for (size_t i = 0; i < problem.steps.size(); ++i)
    for (const int b : problem.steps[i].reads) uses_[size_t(b)].push_back(int(i));
  for (size_t b = 0; b < problem.blocks.size(); ++b)
    last_early_[b] = uses_[b].empty() ? problem.blocks[b].maker : uses_[b].back();
  const int turn = fullest_step();
  const int64_t small = smallest_dropped(problem);
  for (size_t b = 0; b < problem.blocks.size(); ++b) {
    const PlanBlock& block = problem.blocks[b];
    if (!problem.steps[size_t(block.maker)].again || block.bytes < small) continue;
    if (late == Late::kLongestGap) {
      late_from_[b] = behind_longest_gap(b);
    } else if (block.maker < turn) {
      const auto reader = std::upper_bound(uses_[b].begin(), uses_[b].end(), turn);
      if (reader != uses_[b].end()) late_from_[b] = *reader;
    }
    if (late_from_[b] >= 0) {
      last_early_[b] = block.maker;
      for (const int u : uses_[b])
        if (u < late_from_[b]) last_early_[b] = u;
    }
    // Not kept for second runs that come when it is gone, unless chosen: it is remade too.
    dropped_[b] = late_from_[b] < 0;
    droppable_[b] = 1;
  }
}

int Replay::behind_longest_gap(size_t b) const {
  int from = problem_.blocks[b].maker;
  int longest = 1;
  int behind = -1;
  for (const int u : uses_[b]) {
    if (u - from > longest) longest = u - from, behind = u;
    from = u;
  }
  return behind;
}

// Where most is alive when every step runs once: as a rule the end of the forward pass.
int Replay::fullest_step() const {
  std::vector<int64_t> change(problem_.steps.size() + 1, 0);
  for (size_t b = 0; b < uses_.size(); ++b) {
    const PlanBlock& block = problem_.blocks[b];
    change[size_t(block.maker)] += block.bytes;
    change[size_t(uses_[b].empty() ? block.maker : uses_[b].back()) + 1] -= block.bytes;
  }
  int fullest = 0;
  int64_t now = 0;
  int64_t most = -1;
  for (size_t i = 0; i < problem_.steps.size(); ++i) {
    now += change[i];
    if (now > most) most = now, fullest = int(i);
  }
  return fullest;
}

bool Replay::may_run(int step, int now) const {
  const PlanStep& s = problem_.steps[size_t(step)];
  return s.again && (s.latest < 0 || s.latest >= now);
}

void Replay::place(int step, bool again) {
  const PlanStep& s = problem_.steps[size_t(step)];
  const int at = places_++;
  scratch_.push_back(s.scratch);
  PlannedRun* run = nullptr;
  if (runs_) run = &runs_->emplace_back(PlannedRun{step, again, {}});
  for (size_t k = 0; k < s.writes.size(); ++k) {
    Life& life = lives_[size_t(s.writes[k])];
    if (!again) {
      life = {at, -1, -1, at};
    } else if (!s.trims || life.second_start == -2) {
      life.second_start = life.second_last = at;
      if (run) run->writes.push_back(int(k));
    }
  }
}

void Replay::remake(int block, int now) {
  const int step = problem_.blocks[size_t(block)].maker;
  const PlanStep& s = problem_.steps[size_t(step)];
  SmallVector<int, 12> reads;  // positions
  if (s.trims) {
    // Every output that will be asked for again.
    for (size_t k = 0; k < s.writes.size(); ++k) {
      const int b = s.writes[k];
      Life& life = lives_[size_t(b)];
      const bool late = late_from_[size_t(b)] >= 0 && dropped_[size_t(b)] && uses_[size_t(b)].back() >= now;
      if (life.second_start >= 0 || (b != block && !late)) continue;
      life.second_start = -2;  // asked for
      for (const int i : s.needs[k])
        if (std::find(reads.begin(), reads.end(), i) == reads.end()) reads.push_back(i);
    }
  } else {
    reads.resize(s.reads.size());
    for (size_t i = 0; i < reads.size(); ++i) reads[i] = int(i);
  }
  for (const int i : reads) touch(s.reads[size_t(i)], now);
  for (const int i : reads) {
    Life& life = lives_[size_t(s.reads[size_t(i)])];
    (life.second_start >= 0 ? life.second_last : life.first_last) = places_;
  }
  cost_ += s.cost;
  place(step, true);
}

// Makes sure that a block is there for a reader at this step.
void Replay::touch(int b, int now) {
  const Life& life = lives_[size_t(b)];
  if (life.second_start >= 0) return;
  if (!dropped_[size_t(b)]) return;
  const bool gone = now > last_early_[size_t(b)];
  if (gone && may_run(problem_.blocks[size_t(b)].maker, now)) remake(b, now);
}

Replay::Outcome Replay::outcome(int64_t limit, std::vector<PlannedRun>* runs) {
  *work_ -= int64_t(problem_.steps.size());
  runs_ = runs;
  places_ = 0;
  cost_ = 0;
  scratch_.clear();
  for (Life& life : lives_) life = {};
  for (size_t i = 0; i < problem_.steps.size(); ++i) {
    const PlanStep& s = problem_.steps[i];
    for (const int b : s.reads) touch(b, int(i));
    for (const int b : s.reads) {
      Life& life = lives_[size_t(b)];
      (life.second_start >= 0 ? life.second_last : life.first_last) = places_;
    }
    place(int(i), false);
  }
  live_.assign(size_t(places_) + 1, 0);
  for (size_t b = 0; b < lives_.size(); ++b) {
    const Life& life = lives_[b];
    const int64_t bytes = problem_.blocks[b].bytes;
    live_[size_t(life.first_start)] += bytes;
    live_[size_t(life.first_last) + 1] -= bytes;
    if (life.second_start < 0) continue;
    live_[size_t(life.second_start)] += bytes;
    live_[size_t(life.second_last) + 1] -= bytes;
  }
  Outcome o;
  o.cost = cost_;
  int64_t now = 0;
  for (int i = 0; i < places_; ++i) {
    now += live_[size_t(i)];
    const int64_t bytes = now + scratch_[size_t(i)];
    o.peak = std::max(o.peak, bytes);
    o.excess += double(std::max<int64_t>(0, bytes - limit));
  }
  runs_ = nullptr;
  return o;
}

std::vector<int> Replay::remade() const {
  std::vector<int> list;
  for (size_t b = 0; b < dropped_.size(); ++b)
    if (dropped_[b] && lives_[b].second_start >= 0) list.push_back(int(b));
  return list;
}

// Keeps blocks again where that takes bytes away from the crowded places: long replays are crowded too.
bool Replay::keep_instead(int64_t limit) {
  Outcome now = outcome(limit);
  bool changed = false;
  for (const int b : remade()) {
    if (*work_ < 0) break;
    dropped_[size_t(b)] = 0;
    const Outcome then = outcome(limit);
    if (then.excess < now.excess || (then.excess == now.excess && then.cost < now.cost)) {
      now = then;
      changed = true;
    } else {
      dropped_[size_t(b)] = 1;
    }
  }
  return changed;
}

// What the move drops of what is kept.
SmallVector<int, 4> Replay::to_drop(const Move& m) const {
  SmallVector<int, 4> list;
  const PlanStep& s = problem_.steps[size_t(problem_.blocks[size_t(m.block)].maker)];
  for (const int b : s.writes)
    if ((b == m.block || m.siblings) && droppable_[size_t(b)] && !dropped_[size_t(b)]) list.push_back(b);
  return list;
}

bool Replay::fit(int64_t limit) {
  Outcome now = outcome(limit);
  const auto worse = [](const Move& a, const Move& b) { return a.score > b.score; };
  auto score_of = [&](const Move& m) {
    const SmallVector<int, 4> blocks = to_drop(m);
    if (blocks.empty()) return kUseless;
    for (const int b : blocks) dropped_[size_t(b)] = 1;
    const Outcome then = outcome(limit);
    for (const int b : blocks) dropped_[size_t(b)] = 0;
    const double gain = now.excess - then.excess;
    return gain <= 0 ? kUseless : std::max(1e-9, then.cost - now.cost) / gain;
  };
  for (int turn = 0; turn < kMostTurns && *work_ > 0; ++turn) {
    std::vector<Move> moves;
    for (size_t b = 0; b < dropped_.size(); ++b) {
      if (dropped_[b] || !droppable_[b] || *work_ < 0) continue;
      const auto consider = [&](Move m) {
        m.score = score_of(m);
        if (m.score < kUseless) moves.push_back(m);
      };
      consider({int(b), false, 0});
      // Each alone may gain nothing where a second run keeps what the step reads: all of them then.
      const Move all{int(b), true, 0};
      if (const SmallVector<int, 4> blocks = to_drop(all); blocks.size() > 1 && blocks[0] == int(b))
        consider(all);
    }
    std::make_heap(moves.begin(), moves.end(), worse);
    const double before = now.excess;
    while (now.peak > limit && !moves.empty() && *work_ > 0) {
      // The best by its last known score is scored anew; if it is still the best it is made.
      std::pop_heap(moves.begin(), moves.end(), worse);
      Move& m = moves.back();
      m.score = score_of(m);
      if (m.score >= kUseless) {
        moves.pop_back();
      } else if (moves.size() == 1 || m.score <= moves.front().score * 1.0001) {
        for (const int b : to_drop(m)) dropped_[size_t(b)] = 1;
        now = outcome(limit);
        moves.pop_back();
      } else {
        std::push_heap(moves.begin(), moves.end(), worse);
      }
    }
    if (now.peak <= limit) return true;
    keep_instead(limit);
    now = outcome(limit);
    if (now.peak <= limit) return true;
    if (now.excess >= before * 0.999) return false;
  }
  return false;
}

void Replay::keep_narrow(int spacing) {
  // Bytes that early readers behind each step need from before it.
  std::vector<int64_t> crossing(problem_.steps.size() + 1, 0);
  int end = 0;  // where early uses of droppable blocks end
  for (size_t b = 0; b < uses_.size(); ++b) {
    const int last = last_early_[b];
    crossing[size_t(problem_.blocks[b].maker)] += problem_.blocks[b].bytes;
    crossing[size_t(last)] -= problem_.blocks[b].bytes;
    if (late_from_[b] >= 0) end = std::max(end, last);
  }
  for (size_t i = 1; i < crossing.size(); ++i) crossing[i] += crossing[i - 1];
  std::vector<uint8_t> narrow(crossing.size(), 0);
  int last_narrow = -spacing;
  for (int i = 0; i < end; ++i) {
    bool least = i - last_narrow >= spacing;
    for (int k = std::max(0, i - kNarrowWindow); k <= std::min(end, i + kNarrowWindow) && least; ++k)
      least = crossing[size_t(i)] <= crossing[size_t(k)];
    if (!least) continue;
    narrow[size_t(i)] = 1;
    last_narrow = i;
  }
  std::vector<int> before(narrow.size() + 1, 0);
  for (size_t i = 0; i < narrow.size(); ++i) before[i + 1] = before[i] + narrow[i];
  for (size_t b = 0; b < uses_.size(); ++b) {
    if (!droppable_[b]) continue;
    const int maker = problem_.blocks[b].maker;
    dropped_[b] = before[size_t(last_early_[b])] == before[size_t(maker)];
  }
}

void Replay::keep_more(int64_t limit) {
  Outcome now = outcome(limit);
  std::vector<Move> moves;
  for (const int b : remade()) {
    if (*work_ < 0) break;
    dropped_[size_t(b)] = 0;
    const Outcome then = outcome(limit);
    dropped_[size_t(b)] = 1;
    if (then.peak <= limit && then.cost < now.cost)
      moves.push_back({b, false, (then.cost - now.cost) / double(problem_.blocks[size_t(b)].bytes)});
  }
  std::stable_sort(moves.begin(), moves.end(),
                   [](const Move& a, const Move& b) { return a.score < b.score; });
  for (const Move& m : moves) {
    if (*work_ < 0) break;
    dropped_[size_t(m.block)] = 0;
    const Outcome then = outcome(limit);
    if (then.peak <= limit && then.cost < now.cost) now = then;
    else dropped_[size_t(m.block)] = 1;
  }
}

std::vector<int> Replay::rank() {
  const Outcome now = outcome(0);
  // What a layer repeats has the same sizes and costs; one of each kind is tried, from the middle.
  using Kind = std::tuple<int64_t, double, int64_t, size_t, size_t>;
  std::map<Kind, std::vector<int>> kinds;
  for (const int b : remade()) {
    const PlanBlock& block = problem_.blocks[size_t(b)];
    const PlanStep& s = problem_.steps[size_t(block.maker)];
    const auto which = size_t(std::find(s.writes.begin(), s.writes.end(), b) - s.writes.begin());
    kinds[{block.bytes, s.cost, s.scratch, s.reads.size(), which}].push_back(b);
  }
  std::vector<std::pair<double, const std::vector<int>*>> worth;
  for (const auto& [kind, blocks] : kinds) {
    const auto b = size_t(blocks[blocks.size() / 2]);
    dropped_[b] = 0;
    const double saved = now.cost - outcome(0).cost;
    dropped_[b] = 1;
    if (saved > 0) worth.emplace_back(saved / double(problem_.blocks[b].bytes), &blocks);
  }
  std::stable_sort(worth.begin(), worth.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<int> list;
  for (const auto& [saved, blocks] : worth) list.insert(list.end(), blocks->rbegin(), blocks->rend());
  return list;
}

double Replay::keep_first(const std::vector<int>& ranked, int64_t limit) {
  size_t kept = 0;
  const auto keep = [&](size_t count) {
    for (; kept < count; ++kept) dropped_[size_t(ranked[kept])] = 0;
    for (; kept > count; --kept) dropped_[size_t(ranked[kept - 1])] = 1;
    return outcome(limit);
  };
  size_t fits = 0, too_many = ranked.size() + 1;
  while (too_many - fits > 1) {
    const size_t middle = (fits + too_many) / 2;
    (keep(middle).peak <= limit ? fits : too_many) = middle;
  }
  return keep(fits).cost;
}

std::vector<PlannedRun> Replay::runs() {
  std::vector<PlannedRun> list;
  outcome(0, &list);
  return list;
}

}  // namespace rw
