#include "rewind/compiler/memory/frontier.h"

#include <algorithm>

#include "rewind/compiler/memory/cost.h"
#include "rewind/compiler/plan_memory.h"
#include "rewind/device/memory_budget.h"

namespace rw {
namespace {

using Late = Replay::Late;

constexpr int64_t kMostWork = 60'000'000;  // of the search, in steps looked at: about two seconds
constexpr int kMostMisses = 6;

// How much less memory the next plan is asked to need. Large graphs get fewer plans.
double step_down(size_t steps) { return steps < 2000 ? 0.96 : 0.85; }

}  // namespace

FrontierPlan measure_plan(const PlanProblem& problem, const Schedule& schedule) {
  FrontierPlan plan;
  std::vector<Lifetime> lives;  // by version, then scratch
  std::vector<int> index(schedule.num_versions(), -1);
  std::vector<uint8_t> owned;
  const auto end = int32_t(schedule.order().size());
  for (int32_t i = 0; i < end; ++i) {
    const PlanRun& run = schedule.run(schedule.order()[size_t(i)]);
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
  plan.extra_cost = schedule.extra_cost();
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
    plan.schedule = std::make_shared<const Schedule>(s);
    plans.push_back(std::move(plan));
  };
  Schedule now(problem);
  keep(now);
  const double factor = step_down(problem.steps.size());
  // The ways down: drop more and more, keep little and add what there is room for, or close gaps one by one,
  // ever further or from the last plan. Each limit takes the cheapest.
  int64_t work = kMostWork;
  Replay dropping(problem, Late::kLongestGap, &work);
  Schedule closing = now;
  bool replays = true;
  int misses = 0;
  // Plans that replay whole stretches between narrow places, by how far those are apart.
  std::vector<std::pair<int64_t, Replay>> stretches;  // peak
  const auto steps = int(problem.steps.size());
  for (double spacing = 1; spacing < steps / 2.0; spacing = spacing * 1.4 + 1) {
    Replay r(problem, Late::kFullestStep, &work);
    r.keep_narrow(int(spacing));
    const int64_t peak = r.peak();
    stretches.emplace_back(peak, std::move(r));
  }
  for (auto limit = int64_t(double(now.peak()) * factor);
       limit >= frontier->lower_bound && misses < kMostMisses; limit = int64_t(double(limit) * factor)) {
    bool found = false;
    Schedule best = now;
    auto consider = [&](Schedule s) {
      if (work > 0) s.merge(limit);
      work -= int64_t(s.order().size());
      if (found && s.extra_cost() >= best.extra_cost()) return;
      best = std::move(s);
      found = true;
    };
    auto consider_replay = [&](Replay r, bool fits) {
      if (!fits && !r.fit(limit)) return;
      r.keep_more(limit);
      consider(Schedule(problem, r.runs()));
    };
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
    for (const auto& [peak, stretch] : stretches)
      if (peak <= limit && tried++ < 2) consider_replay(stretch, true);
    if (Schedule next = closing; next.fit(limit, &work)) {
      next.merge(limit);
      closing = std::move(next);
      consider(closing);
    }
    if (Schedule next = now; next.fit(limit, &work)) consider(std::move(next));
    misses = found ? 0 : misses + 1;
    if (!found) continue;
    keep(best);
    now = std::move(best);
  }
  return frontier;
}

}  // namespace rw
