#include "rewind/compiler/memory/schedule.h"

#include <algorithm>
#include <limits>

namespace rw {
namespace {

constexpr int64_t kEvaluationWork = 40;
constexpr int kMostMakes = 48;  // second runs that one gap may ask for
// Blocks that are looked at for one gap. Each may be kept or made again, so ways that part again and again
// would be tried without end.
constexpr int64_t kMostLooked = 200;
constexpr int kRoundsWithoutGain = 12;
constexpr double kJoinCost = 0.01;  // of one more output of a run that is there
constexpr double kWorse = 1.3;      // a score may have become so much worse since it was found

int index_in(const std::vector<int>& list, int x) {
  return int(std::find(list.begin(), list.end(), x) - list.begin());
}

}  // namespace

Schedule::Schedule(const PlanProblem& problem)
    : problem_(&problem), versions_of_(problem.blocks.size()), again_of_(problem.steps.size()) {
  for (size_t i = 0; i < problem.steps.size(); ++i) {
    const PlanStep& s = problem.steps[i];
    PlanRun& run = runs_.emplace_back();
    run.step = int(i);
    order_.push_back(int(i));
    for (const int b : s.reads) {
      const int v = versions_of_[size_t(b)].front();
      run.reads.push_back(v);
      versions_[size_t(v)].users.push_back(int(i));
    }
    for (const int b : s.writes) {
      run.writes.push_back(int(versions_.size()));
      versions_of_[size_t(b)].push_back(int(versions_.size()));
      versions_.push_back({b, int(i), {}});
    }
  }
  refresh(std::numeric_limits<int64_t>::max());
}

// The next run of the order, which reads and makes nothing yet. First runs keep the numbers of their steps.
PlanRun& Schedule::start_run(int step, bool again) {
  const PlanStep& s = problem_->steps[size_t(step)];
  runs_.resize(std::max(runs_.size(), problem_->steps.size()));
  const int id = again ? int(runs_.size()) : step;
  if (again) runs_.emplace_back();
  PlanRun& run = runs_[size_t(id)];
  run.step = step;
  run.again = again;
  run.reads.assign(s.reads.size(), -1);
  run.writes.assign(s.writes.size(), -1);
  order_.push_back(id);
  if (again) {
    again_of_[size_t(step)].push_back(id);
    extra_ += s.cost;
    ++again_;
  }
  return run;
}

Schedule::Schedule(const PlanProblem& problem, const std::vector<PlannedRun>& runs)
    : problem_(&problem), versions_of_(problem.blocks.size()), again_of_(problem.steps.size()) {
  for (const PlannedRun& planned : runs) {
    const PlanStep& s = problem.steps[size_t(planned.step)];
    PlanRun& run = start_run(planned.step, planned.again);
    const int id = order_.back();
    const bool trimmed = planned.again && s.trims;
    std::vector<bool> reads(s.reads.size(), !trimmed);
    std::vector<bool> writes(s.writes.size(), !trimmed);
    if (trimmed) {
      for (const int k : planned.writes) {
        writes[size_t(k)] = true;
        for (const int i : s.needs[size_t(k)]) reads[size_t(i)] = true;
      }
    }
    for (size_t i = 0; i < s.reads.size(); ++i) {
      if (!reads[i]) continue;
      run.reads[i] = versions_of_[size_t(s.reads[i])].back();
      versions_[size_t(run.reads[i])].users.push_back(id);
    }
    for (size_t k = 0; k < s.writes.size(); ++k) {
      if (!writes[k]) continue;
      run.writes[k] = int(versions_.size());
      versions_of_[size_t(s.writes[k])].push_back(run.writes[k]);
      versions_.push_back({s.writes[k], id, {}});
    }
  }
  refresh(std::numeric_limits<int64_t>::max());
}

Schedule::Packed Schedule::pack() const {
  Packed packed;
  std::vector<int> number(versions_.size(), -1);
  int next = 0;
  for (const int id : order_) {
    const PlanRun& run = runs_[size_t(id)];
    packed.push_back(run.step);
    packed.push_back(run.again);
    for (const int v : run.reads) packed.push_back(v < 0 ? -1 : number[size_t(v)]);
    for (const int v : run.writes) {
      packed.push_back(v >= 0);
      if (v >= 0) number[size_t(v)] = next++;
    }
  }
  return packed;
}

Schedule::Schedule(const PlanProblem& problem, const Packed& packed)
    : problem_(&problem), versions_of_(problem.blocks.size()), again_of_(problem.steps.size()) {
  for (auto at = packed.begin(); at != packed.end();) {
    const int step = *at++;
    PlanRun& run = start_run(step, *at++ != 0);
    const int id = order_.back();
    for (int& v : run.reads) {
      v = *at++;
      if (v >= 0) versions_[size_t(v)].users.push_back(id);
    }
    for (size_t k = 0; k < run.writes.size(); ++k) {
      if (!*at++) continue;
      const int block = problem.steps[size_t(step)].writes[k];
      run.writes[k] = int(versions_.size());
      versions_of_[size_t(block)].push_back(run.writes[k]);
      versions_.push_back({block, id, {}});
    }
  }
  refresh(std::numeric_limits<int64_t>::max());
}

void Schedule::refresh(int64_t limit) {
  pos_.resize(runs_.size());
  for (size_t i = 0; i < order_.size(); ++i) pos_[size_t(order_[i])] = int(i);
  std::vector<int64_t> change(order_.size() + 1, 0);
  for (const PlanVersion& v : versions_) {
    if (v.maker < 0) continue;
    change[size_t(first(v))] += bytes(v.block);
    change[size_t(last(v)) + 1] -= bytes(v.block);
  }
  live_.resize(order_.size());
  over_.assign(order_.size() + 1, 0);
  int64_t now = 0;
  peak_ = 0;
  for (size_t i = 0; i < order_.size(); ++i) {
    now += change[i];
    live_[i] = now + problem_->steps[size_t(runs_[size_t(order_[i])].step)].scratch;
    peak_ = std::max(peak_, live_[i]);
    over_[i + 1] = over_[i] + (live_[i] > limit);
  }
}

const Schedule::Source* Schedule::Remake::find(int block) const {
  for (const Source& s : sources)
    if (s.block == block) return &s;
  return nullptr;
}

bool Schedule::may_run(int step, int place) const {
  const PlanStep& s = problem_->steps[size_t(step)];
  return s.again && (s.latest < 0 || pos_[size_t(s.latest)] >= place);
}

std::vector<int> Schedule::reads_for(int step, int block) const {
  const PlanStep& s = problem_->steps[size_t(step)];
  if (s.trims) return s.needs[size_t(index_in(s.writes, block))];
  std::vector<int> all(s.reads.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = int(i);
  return all;
}

bool Schedule::covers(int block, int place) const {
  for (const int id : versions_of_[size_t(block)]) {
    const PlanVersion& v = versions_[size_t(id)];
    if (v.maker >= 0 && first(v) < place && last(v) >= place) return true;
  }
  return false;
}

// The last second run of the block's step between two places that can make this block as well, or -1.
int Schedule::join_at(int block, int after, int before) const {
  const int step = problem_->blocks[size_t(block)].maker;
  const PlanStep& s = problem_->steps[size_t(step)];
  int best = -1;
  for (const int r : again_of_[size_t(step)]) {
    const int place = pos_[size_t(r)];
    if (place <= after || place >= before || (best >= 0 && place <= pos_[size_t(best)])) continue;
    const PlanRun& run = runs_[size_t(r)];
    const int k = index_in(s.writes, block);
    if (run.writes[size_t(k)] >= 0 && !versions_[size_t(run.writes[size_t(k)])].users.empty()) continue;
    bool ready = true;
    for (const int i : reads_for(step, block))
      ready &= run.reads[size_t(i)] >= 0 || covers(s.reads[size_t(i)], place);
    if (ready) best = r;
  }
  return best;
}

void Schedule::need(int block, int place, Remake& r) const {
  if (r.find(block)) return;
  ++r.looked;
  int before = -1;  // the latest version that exists by then
  for (const int id : versions_of_[size_t(block)]) {
    const PlanVersion& v = versions_[size_t(id)];
    if (v.maker < 0 || first(v) >= place) continue;
    if (last(v) >= place) return r.sources.push_back({Source::kVersion, block, id});
    if (before < 0 || first(v) > first(versions_[size_t(before)])) before = id;
  }
  const double longer = double(bytes(block)) * double(over(last(versions_[size_t(before)]) + 1, place - 1));
  const int join = join_at(block, last(versions_[size_t(before)]), place);
  const double joined =
      join < 0 ? longer : double(bytes(block)) * double(over(pos_[size_t(join)], place - 1));
  const Source keep =
      joined < longer ? Source{Source::kJoin, block, join} : Source{Source::kVersion, block, before};
  const double kept = std::min(joined, longer);
  const int step = problem_->blocks[size_t(block)].maker;
  if (kept > 0 && may_run(step, place) && r.makes < kMostMakes && r.looked < kMostLooked) {
    Remake trial = r;
    make(block, place, trial);
    r.looked = trial.looked;
    if (trial.cost - r.cost + (trial.penalty - r.penalty) * r.price < kept * r.price) {
      r = std::move(trial);
      return;
    }
  }
  r.penalty += kept;
  r.sources.push_back(keep);
}

void Schedule::make(int block, int place, Remake& r) const {
  const int step = problem_->blocks[size_t(block)].maker;
  const PlanStep& s = problem_->steps[size_t(step)];
  ++r.makes;
  for (const int i : reads_for(step, block)) need(s.reads[size_t(i)], place, r);
  bool there = false;
  for (const Source& other : r.sources) there |= other.kind == Source::kMake && other.id == step;
  if (!there) {
    r.cost += s.cost;
    // A second run that comes later is no longer needed if this one's result can wait for it.
    for (const int again : again_of_[size_t(step)]) {
      const int later = pos_[size_t(again)];
      if (later < place || double(bytes(block)) * double(over(place, later)) * r.price > s.cost) continue;
      r.cost -= 0.9 * s.cost;
      break;
    }
  }
  r.sources.push_back({Source::kMake, block, step});
}

bool Schedule::evaluate(int version, int user, Remake* remake, double* score) const {
  const PlanVersion& v = versions_[size_t(version)];
  const size_t k = size_t(index_in(v.users, user));
  if (k >= v.users.size()) return false;
  const int from = k == 0 ? first(v) : pos_[size_t(v.users[k - 1])];
  const int place = pos_[size_t(user)];
  const double size = double(bytes(v.block));
  if (const int join = join_at(v.block, from, place); join >= 0) {
    const double gain = size * double(over(from + 1, pos_[size_t(join)] - 1));
    if (gain > 0) {
      *remake = Remake();
      remake->sources.push_back({Source::kJoin, v.block, join});
      *score = kJoinCost / gain;
      return true;
    }
  }
  const double gain = size * double(over(from + 1, place - 1));
  const int step = problem_->blocks[size_t(v.block)].maker;
  if (gain <= 0 || !may_run(step, place)) return false;
  *remake = Remake();
  remake->price = problem_->steps[size_t(step)].cost / gain;
  make(v.block, place, *remake);
  if (remake->penalty >= 0.95 * gain || remake->makes > kMostMakes) return false;
  *score = remake->cost / (gain - remake->penalty);
  return true;
}

int Schedule::add_run(int step, int place) {
  const PlanStep& s = problem_->steps[size_t(step)];
  const int id = int(runs_.size());
  PlanRun& run = runs_.emplace_back();
  run.step = step;
  run.again = true;
  run.reads.assign(s.reads.size(), -1);
  run.writes.assign(s.writes.size(), -1);
  order_.insert(order_.begin() + place, id);
  pos_.push_back(0);
  for (size_t i = size_t(place); i < order_.size(); ++i) pos_[size_t(order_[i])] = int(i);
  again_of_[size_t(step)].push_back(id);
  extra_ += s.cost;
  ++again_;
  if (!s.trims)
    for (const int b : s.writes) write(id, b);
  return id;
}

int Schedule::write(int run, int block) {
  const PlanStep& s = problem_->steps[size_t(runs_[size_t(run)].step)];
  int& slot = runs_[size_t(run)].writes[size_t(index_in(s.writes, block))];
  if (slot >= 0) return slot;
  slot = int(versions_.size());
  versions_of_[size_t(block)].push_back(slot);
  versions_.push_back({block, run, {}});
  return slot;
}

void Schedule::read(int run, int block, int version) {
  const PlanStep& s = problem_->steps[size_t(runs_[size_t(run)].step)];
  int& slot = runs_[size_t(run)].reads[size_t(index_in(s.reads, block))];
  if (slot >= 0) return;
  slot = version;
  std::vector<int>& users = versions_[size_t(version)].users;
  users.insert(std::upper_bound(users.begin(), users.end(), run,
                                [&](int a, int b) { return pos_[size_t(a)] < pos_[size_t(b)]; }),
               run);
}

// Readers of a version from a place on read another one.
void Schedule::move_users(int from, int to, int from_place) {
  std::vector<int>& old = versions_[size_t(from)].users;
  const auto begin =
      std::find_if(old.begin(), old.end(), [&](int r) { return pos_[size_t(r)] >= from_place; });
  const std::vector<int> moved(begin, old.end());
  old.erase(begin, old.end());
  for (const int r : moved) {
    const PlanStep& s = problem_->steps[size_t(runs_[size_t(r)].step)];
    runs_[size_t(r)].reads[size_t(index_in(s.reads, versions_[size_t(from)].block))] = -1;
    read(r, versions_[size_t(from)].block, to);
  }
}

void Schedule::apply(int version, int user, const Remake& remake) {
  std::vector<std::pair<int, int>> have;  // block, version
  auto version_of = [&](int block, int place) {
    for (const auto& [b, v] : have)
      if (b == block) return v;
    // Made outputs of a joined run: what covers the place.
    for (const int id : versions_of_[size_t(block)]) {
      const PlanVersion& v = versions_[size_t(id)];
      if (v.maker >= 0 && first(v) < place && last(v) >= place) return id;
    }
    return -1;
  };
  std::vector<std::pair<int, int>> made;  // step, run
  for (const Source& s : remake.sources) {
    if (s.kind == Source::kVersion) {
      have.emplace_back(s.block, s.id);
      continue;
    }
    int run = s.kind == Source::kJoin ? s.id : -1;
    const int step = problem_->blocks[size_t(s.block)].maker;
    const std::vector<int> reads = reads_for(step, s.block);
    if (s.kind == Source::kMake) {
      // Another output of a run that this remake has made already, if all it reads was there by then.
      for (const auto& [known, known_run] : made) {
        if (known != step) continue;
        run = known_run;
        for (const int i : reads) {
          const int b = problem_->steps[size_t(step)].reads[size_t(i)];
          if (runs_[size_t(run)].reads[size_t(i)] >= 0) continue;
          if (first(versions_[size_t(version_of(b, pos_[size_t(user)]))]) >= pos_[size_t(known_run)])
            run = -1;
          if (run < 0) break;
        }
        if (run >= 0) break;
      }
      if (run < 0) made.emplace_back(step, run = add_run(step, pos_[size_t(user)]));
    }
    for (const int i : reads) {
      const int b = problem_->steps[size_t(step)].reads[size_t(i)];
      if (runs_[size_t(run)].reads[size_t(i)] < 0) read(run, b, version_of(b, pos_[size_t(run)]));
    }
    have.emplace_back(s.block, write(run, s.block));
  }
  move_users(version, have.back().second, pos_[size_t(user)]);
}

bool Schedule::fit(int64_t limit, int64_t* work) {
  double best_excess = std::numeric_limits<double>::max();
  int stale = 0;
  const size_t most_runs = 8 * problem_->steps.size() + 64;
  for (;;) {
    refresh(limit);
    if (peak_ <= limit) return true;
    *work -= int64_t(order_.size());
    if (*work < 0) return false;
    double excess = 0;
    for (const int64_t l : live_) excess += double(std::max<int64_t>(0, l - limit));
    if (excess < best_excess * 0.9995) best_excess = excess, stale = 0;
    else if (++stale > kRoundsWithoutGain) return false;
    if (runs_.size() > most_runs) return false;
    // By what a gap costs at least, so that most need no closer look.
    std::vector<Candidate> gaps;
    for (size_t id = 0; id < versions_.size(); ++id) {
      const PlanVersion& v = versions_[id];
      if (v.maker < 0 || bytes(v.block) == 0) continue;
      const int step = problem_->blocks[size_t(v.block)].maker;
      const PlanStep& s = problem_->steps[size_t(step)];
      if (!s.again) continue;
      const double least = again_of_[size_t(step)].empty() ? s.cost : kJoinCost;
      int from = first(v);
      for (const int u : v.users) {
        const int place = pos_[size_t(u)];
        if (const int64_t places = over(from + 1, place - 1); places > 0)
          gaps.push_back({int(id), u, least / (double(bytes(v.block)) * double(places))});
        from = place;
      }
    }
    if (gaps.empty()) return false;
    const auto by_score = [](const Candidate& a, const Candidate& b) { return a.score < b.score; };
    std::stable_sort(gaps.begin(), gaps.end(), by_score);
    const size_t batch = 1 + gaps.size() / 48;
    std::vector<Candidate> candidates;
    Remake remake;
    for (const Candidate& g : gaps) {
      if (candidates.size() >= batch && g.score > candidates[batch - 1].score) break;
      double score = 0;
      remake.looked = 0;
      const bool closes = evaluate(g.version, g.user, &remake, &score);
      *work -= std::max(kEvaluationWork, 8 * remake.looked);
      if (!closes) continue;
      const Candidate c{g.version, g.user, score};
      candidates.insert(std::upper_bound(candidates.begin(), candidates.end(), c, by_score), c);
    }
    if (candidates.empty()) return false;
    size_t applied = 0;
    for (size_t i = 0; i < candidates.size() && applied < batch; ++i) {
      const Candidate& c = candidates[i];
      double score = 0;
      if (i > 0) {
        *work -= int64_t(order_.size());
        refresh(limit);
        if (peak_ <= limit) return true;
      }
      if (!evaluate(c.version, c.user, &remake, &score) || score > kWorse * c.score) continue;
      apply(c.version, c.user, remake);
      ++applied;
    }
  }
}

void Schedule::remove_user(int version, int run) {
  std::vector<int>& users = versions_[size_t(version)].users;
  users.erase(std::find(users.begin(), users.end(), run));
}

void Schedule::merge(int64_t limit) {
  struct Pair {
    int early, late;
    double worth;
  };
  for (bool changed = true; changed;) {
    changed = false;
    refresh(limit);
    std::vector<Pair> pairs;
    for (const std::vector<int>& list : versions_of_) {
      for (const int late : list) {
        const PlanVersion& l = versions_[size_t(late)];
        if (l.maker < 0 || !runs_[size_t(l.maker)].again || l.users.empty()) continue;
        int early = -1;
        for (const int e : list) {
          const PlanVersion& v = versions_[size_t(e)];
          if (v.maker >= 0 && first(v) < first(l) &&
              (early < 0 || first(v) > first(versions_[size_t(early)])))
            early = e;
        }
        if (early < 0) continue;
        const double size = double(bytes(l.block)) + 1;
        const double length = 1 + std::max(0, first(l) - last(versions_[size_t(early)]));
        pairs.push_back(
            {early, late, problem_->steps[size_t(runs_[size_t(l.maker)].step)].cost / (size * length)});
      }
    }
    std::stable_sort(pairs.begin(), pairs.end(),
                     [](const Pair& a, const Pair& b) { return a.worth > b.worth; });
    for (const Pair& p : pairs) {
      if (versions_[size_t(p.early)].maker < 0 || versions_[size_t(p.late)].maker < 0) continue;
      if (versions_[size_t(p.late)].users.empty()) continue;
      const int64_t size = bytes(versions_[size_t(p.late)].block);
      const int from = last(versions_[size_t(p.early)]) + 1;
      const int to = first(versions_[size_t(p.late)]);  // its maker's own place counts it already
      bool room = true;
      for (int i = from; i < to && room; ++i) room = live_[size_t(i)] + size <= limit;
      if (!room) continue;
      for (int i = from; i < to; ++i) live_[size_t(i)] += size;
      move_users(p.late, p.early, 0);
      // Runs that nobody needs any more go, and what only they read.
      std::vector<int> doubtful{versions_[size_t(p.late)].maker};
      while (!doubtful.empty()) {
        const int r = doubtful.back();
        doubtful.pop_back();
        if (!runs_[size_t(r)].again || runs_[size_t(r)].step < 0) continue;
        const PlanStep& s = problem_->steps[size_t(runs_[size_t(r)].step)];
        bool used = false;
        for (int& w : runs_[size_t(r)].writes) {
          if (w < 0) continue;
          if (!versions_[size_t(w)].users.empty()) {
            used = true;
          } else if (s.trims) {
            versions_[size_t(w)].maker = -1;
            w = -1;
          }
        }
        // What the outputs that are left do not need is not read.
        std::vector<bool> needed(s.reads.size(), used && !s.trims);
        if (used && s.trims)
          for (size_t k = 0; k < s.writes.size(); ++k)
            if (runs_[size_t(r)].writes[k] >= 0)
              for (const int i : s.needs[k]) needed[size_t(i)] = true;
        for (size_t i = 0; i < needed.size(); ++i) {
          int& slot = runs_[size_t(r)].reads[i];
          if (needed[i] || slot < 0) continue;
          remove_user(slot, r);
          doubtful.push_back(versions_[size_t(slot)].maker);
          slot = -1;
        }
        if (used) continue;
        for (const int w : runs_[size_t(r)].writes)
          if (w >= 0) versions_[size_t(w)].maker = -1;
        std::vector<int>& again = again_of_[size_t(runs_[size_t(r)].step)];
        again.erase(std::find(again.begin(), again.end(), r));
        extra_ -= s.cost;
        --again_;
        runs_[size_t(r)].step = -1;
        changed = true;
      }
    }
    if (changed) std::erase_if(order_, [&](int r) { return runs_[size_t(r)].step < 0; });
  }
  refresh(limit);
}

}  // namespace rw
