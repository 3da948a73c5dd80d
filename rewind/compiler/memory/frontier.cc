#include "rewind/compiler/memory/frontier.h"

#include <algorithm>

#include "rewind/compiler/memory/cost.h"
#include "rewind/compiler/plan_memory.h"
#include "rewind/device/memory_budget.h"

namespace rw {
namespace {

// How much less memory the next plan is asked to need. Large graphs get fewer plans.
double step_down(size_t steps) { return steps < 2000 ? 0.96 : 0.85; }

// Fills in what a schedule takes.
FrontierPlan measured(const PlanProblem& problem, const Schedule& schedule) {
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

}  // namespace

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
    FrontierPlan plan = measured(problem, s);
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
  // Two ways down: drop more and more, or keep little and add what there is room for. Where neither leads on,
  // gaps are closed one by one.
  Replay dropping(problem);
  bool replays = true;
  int misses = 0;
  for (auto limit = int64_t(double(now.peak()) * factor); limit >= frontier->lower_bound && misses < 3;
       limit = int64_t(double(limit) * factor)) {
    bool found = false;
    Schedule best = now;
    auto consider = [&](Schedule s) {
      s.merge(limit);
      if (found && s.extra_cost() >= best.extra_cost()) return;
      best = std::move(s);
      found = true;
    };
    if (replays && (replays = dropping.fit(limit))) {
      Replay fuller = dropping;
      fuller.keep_more(limit);
      consider(Schedule(problem, fuller.runs()));
    }
    Replay sparse(problem);
    sparse.keep_narrow();
    if (sparse.fit(limit)) {
      sparse.keep_more(limit);
      consider(Schedule(problem, sparse.runs()));
    }
    if (!found) {
      for (const Schedule& start : {now, Schedule(problem, sparse.runs())}) {
        Schedule s = start;
        if (s.fit(limit)) consider(std::move(s));
      }
    }
    misses = found ? 0 : misses + 1;
    if (!found) continue;
    keep(best);
    now = std::move(best);
  }
  return frontier;
}

}  // namespace rw
