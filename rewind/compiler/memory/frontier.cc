#include "rewind/compiler/memory/frontier.h"

#include <algorithm>
#include <optional>

#include "rewind/compiler/memory/cost.h"
#include "rewind/compiler/memory/deeper.h"
#include "rewind/compiler/plan_memory.h"
#include "rewind/device/memory_budget.h"

namespace rw {
namespace {

using Late = Replay::Late;

constexpr int64_t kMostWork = 36'000'000;  // of the search, in steps looked at: about a second
constexpr int kMostMisses = 6;
// Of plans with other stretches, those near the last limit's best are tried; all at every so many limits.
constexpr int kNearBest = 2, kTryAll = 6;

// How much less memory the next plan is asked to need, and the next that all ways are tried for. Large graphs
// get fewer of those.
constexpr double kStepDown = 0.96;
double search_step(size_t steps) { return steps < 2000 ? kStepDown : 0.85; }

// A plan that replays whole stretches between narrow places, and what it could keep besides.
struct Stretches {
  Replay replay;
  int64_t peak = 0;
  std::vector<int> ranked;
};

}  // namespace

// By place in the order: runs whose readers all read a second run instead. The program will not have them.
static std::vector<uint8_t> find_idle(const PlanProblem& problem, const Schedule& schedule) {
  std::vector<uint8_t> idle(schedule.order().size(), 0);
  std::vector<uint8_t> read(schedule.num_versions(), 0);
  for (size_t i = idle.size(); i-- > 0;) {
    const PlanRun& run = schedule.run(schedule.order()[i]);
    bool needed = !problem.steps[size_t(run.step)].again;
    for (const int v : run.writes) needed = needed || (v >= 0 && read[size_t(v)]);
    idle[i] = !needed;
    if (!needed) continue;
    for (const int v : run.reads)
      if (v >= 0) read[size_t(v)] = 1;
  }
  return idle;
}

FrontierPlan measure_plan(const PlanProblem& problem, const Schedule& schedule) {
  const std::vector<uint8_t> idle = find_idle(problem, schedule);
  double idle_cost = 0;
  FrontierPlan plan;
  std::vector<Lifetime> lives;  // by version, then scratch
  std::vector<int> index(schedule.num_versions(), -1);
  std::vector<uint8_t> owned;
  const auto end = int32_t(schedule.order().size());
  for (int32_t i = 0; i < end; ++i) {
    const PlanRun& run = schedule.run(schedule.order()[size_t(i)]);
    if (idle[size_t(i)]) {
      idle_cost += problem.steps[size_t(run.step)].cost;
      continue;
    }
    for (const int v : run.reads)
      if (v >= 0) lives[size_t(index[size_t(v)])].last = i;
    for (const int v : run.writes) {
      if (v < 0) continue;
      const PlanBlock& block = problem.blocks[size_t(schedule.version(v).block)];
      index[size_t(v)] = int(lives.size());
      lives.push_back({block.bytes, i, i});
      owned.push_back(block.owned);
    }
    if (const int64_t scratch = problem.steps[size_t(run.step)].scratch) {
      lives.push_back({scratch, i, i});
      owned.push_back(0);
    }
  }
  std::vector<Lifetime> arena;
  std::vector<int64_t> change(size_t(end) + 1, 0);
  for (size_t i = 0; i < lives.size(); ++i) {
    if (lives[i].bytes == 0) continue;
    if (!owned[i]) {
      arena.push_back(lives[i]);
      continue;
    }
    change[size_t(lives[i].first)] += block_bytes(cpu_device(), lives[i].bytes);
    change[size_t(lives[i].last) + 1] -= block_bytes(cpu_device(), lives[i].bytes);
  }
  int64_t now = 0;
  for (const int64_t c : change) plan.owned_bytes = std::max(plan.owned_bytes, now += c);
  plan.arena_bytes = plan_memory(arena).bytes;
  plan.bytes = block_bytes(cpu_device(), plan.arena_bytes) + plan.owned_bytes;
  plan.extra_cost = schedule.extra_cost() - idle_cost;
  return plan;
}

const FrontierPlan* Frontier::find(int64_t bytes) const {
  for (const FrontierPlan& plan : plans)
    if (plan.bytes <= bytes) return &plan;
  return nullptr;
}

std::shared_ptr<const Frontier> memory_frontier(const Graph& graph) {
  auto frontier = std::make_shared<Frontier>();
  frontier->problem = plan_problem(graph);
  const PlanProblem& problem = frontier->problem;
  for (const PlanStep& s : problem.steps) {
    if (s.node >= 0) frontier->base_cost += cost_of(graph, graph.node(s.node));
    int64_t bytes = s.scratch;
    for (const auto* list : {&s.reads, &s.writes})
      for (const int b : *list) bytes += problem.blocks[size_t(b)].bytes;
    frontier->lower_bound = std::max(frontier->lower_bound, bytes);
  }
  auto keep = [&](const Schedule& s) {
    FrontierPlan plan = measure_plan(problem, s);
    std::vector<FrontierPlan>& plans = frontier->plans;
    if (!plans.empty() && plan.bytes >= plans.back().bytes) return;
    // A plan that costs no more and needs less makes those before it useless.
    while (!plans.empty() && plans.back().extra_cost >= plan.extra_cost) plans.pop_back();
    plan.schedule = s.pack();
    plans.push_back(std::move(plan));
  };
  Schedule now(problem);
  keep(now);
  // The ways down: replay stretches and keep what is dear and has room; drop more and more, keep little and
  // add what there is room for, or close gaps one by one, ever further or from the last plan. Each limit
  // takes the cheapest. When none of them helps any more, the runs of the last plan are planned as steps.
  int64_t work = kMostWork;
  int64_t stretch_work = kMostWork;
  Replay dropping(problem, Late::kLongestGap, &work);
  Schedule closing = now;
  bool replays = true;
  bool deeper = false;  // two runs of a step do not do any more
  int misses = 0;
  std::vector<Stretches> stretches;  // by how far the narrow places are apart
  const auto steps = int(problem.steps.size());
  for (double spacing = 1; spacing < steps / 2.0; spacing = spacing * 1.4 + 1) {
    Replay r(problem, Late::kFullestStep, &stretch_work);
    r.keep_narrow(int(spacing));
    const int64_t peak = r.peak();
    std::vector<int> ranked = r.rank();
    stretches.push_back({std::move(r), peak, std::move(ranked)});
  }
  int best_stretches = 0;
  int limits = 0;
  const double factor = search_step(problem.steps.size());
  auto search_below = int64_t(double(now.peak()) * kStepDown);
  // Limits go down to the least that a step needs. Where no step needs memory there is nothing below nothing.
  for (auto limit = search_below; limit > 0 && limit >= frontier->lower_bound && misses < kMostMisses;
       limit = int64_t(double(limit) * kStepDown)) {
    bool found = false;
    Schedule best = now;
    auto consider = [&](Schedule s) {
      if (work > 0) s.merge(limit);
      work -= int64_t(s.order().size());
      if (found && s.extra_cost() >= best.extra_cost()) return;
      best = std::move(s);
      found = true;
    };
    std::optional<Replay> cheapest;
    double least = 0;
    const int near = best_stretches;
    const bool all = limits++ % kTryAll == 0;
    for (int i = 0; i < int(stretches.size()); ++i) {
      const Stretches& s = stretches[size_t(i)];
      if (s.peak > limit || stretch_work < 0 || (!all && std::abs(i - near) > kNearBest)) continue;
      Replay r = s.replay;
      const double cost = r.keep_first(s.ranked, limit);
      if (cheapest && cost >= least) continue;
      cheapest.emplace(std::move(r));
      least = cost;
      best_stretches = i;
    }
    if (cheapest) consider(Schedule(problem, cheapest->runs()));
    const bool search = limit <= search_below;
    if (search) {
      search_below = int64_t(double(limit) * factor);
      auto consider_replay = [&](Replay r, bool fits) {
        if (!fits && !r.fit(limit)) return;
        r.keep_more(limit);
        consider(Schedule(problem, r.runs()));
      };
      if (!deeper) {
        replays = replays && dropping.fit(limit);
        if (replays) {
          Replay fuller = dropping;
          fuller.keep_more(limit);
          closing = Schedule(problem, fuller.runs());
        }
        for (const Late late : {Late::kLongestGap, Late::kFullestStep}) {
          Replay sparse(problem, late, &work);
          sparse.keep_narrow(1);
          consider_replay(std::move(sparse), false);
        }
        int tried = 0;
        for (const Stretches& s : stretches)
          if (s.peak <= limit && tried++ < 2) consider_replay(s.replay.with_work(&work), true);
        if (Schedule next = closing; next.fit(limit, &work)) {
          next.merge(limit);
          closing = std::move(next);
          consider(closing);
        }
      }
      if (Schedule next = now; next.fit(limit, &work)) consider(std::move(next));
      deeper = deeper || !found;
      if (deeper && work > 0) {
        const PlanProblem runs = problem_of_runs(problem, now);
        for (const Late late : {Late::kLongestGap, Late::kFullestStep}) {
          Replay third(runs, late, &work);
          if (!third.fit(limit)) continue;
          third.keep_more(limit);
          consider(schedule_of_runs(problem, now, Schedule(runs, third.runs())));
        }
      }
      misses = found ? 0 : misses + 1;
    }
    if (!found) continue;
    keep(best);
    now = std::move(best);
  }
  return frontier;
}

}  // namespace rw
