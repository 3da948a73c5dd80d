#include "rewind/compiler/memory/budget.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <limits>
#include <mutex>

#include "rewind/base/error.h"
#include "rewind/base/number_text.h"
#include "rewind/base/readable.h"
#include "rewind/compiler/memory/cost.h"
#include "rewind/compiler/memory/describe.h"
#include "rewind/compiler/memory/frontier.h"
#include "rewind/compiler/memory/join_runs.h"
#include "rewind/compiler/memory/loop_budget.h"
#include "rewind/device/memory_budget.h"

namespace rw {
namespace {

constexpr size_t kMostTensors = 200;  // in a report
constexpr size_t kMostLines = 20;     // of its text
constexpr int kMostAttempts = 12;     // at joining second runs
// Of a budget that is said to work: the function that gets it is traced anew, and its small constants may
// take a further block of small ones.
constexpr int64_t kSmallConstants = 16 << 10;

using Tensors = std::vector<MemoryReport::Tensor>;

// The largest blocks first, at most kMostTensors.
std::vector<size_t> largest_first(const PlanProblem& problem, std::vector<size_t> blocks) {
  const auto& all = problem.blocks;
  std::stable_sort(blocks.begin(), blocks.end(),
                   [&](size_t a, size_t b) { return all[a].bytes > all[b].bytes; });
  if (blocks.size() > kMostTensors) blocks.resize(kMostTensors);
  return blocks;
}

Tensors describe(const Graph& g, const Frontier& frontier, const Schedule& schedule,
                 const std::vector<size_t>& blocks) {
  const auto& all = frontier.problem.blocks;
  std::vector<int> runs(all.size(), 0);
  for (size_t v = 0; v < schedule.num_versions(); ++v) {
    const PlanVersion& version = schedule.version(int(v));
    if (version.maker >= 0) runs[size_t(version.block)] += schedule.run(version.maker).again;
  }
  Tensors list;
  for (const size_t b : blocks) {
    const ValueId value = all[b].value;
    list.push_back(
        {made_by(g, value), type_of(g.value(value)), all[b].bytes, runs[b], rw::line_of(g, value)});
  }
  return list;
}

struct VersionLife {
  size_t version;
  int first, last;
};

std::vector<VersionLife> lives_of(const Schedule& schedule) {
  std::vector<VersionLife> lives;
  std::vector<size_t> place(schedule.num_versions());
  for (size_t i = 0; i < schedule.order().size(); ++i) {
    const PlanRun& run = schedule.run(schedule.order()[i]);
    for (const int v : run.reads)
      if (v >= 0) lives[place[size_t(v)]].last = int(i);
    for (const int v : run.writes) {
      if (v < 0) continue;
      place[size_t(v)] = lives.size();
      lives.push_back({size_t(v), int(i), int(i)});
    }
  }
  return lives;
}

std::vector<size_t> alive_at_peak(const Schedule& schedule) {
  const std::vector<int64_t>& live = schedule.live();
  const auto peak = int(std::max_element(live.begin(), live.end()) - live.begin());
  std::vector<size_t> blocks;
  for (const VersionLife& l : lives_of(schedule))
    if (l.first <= peak && l.last >= peak) blocks.push_back(size_t(schedule.version(int(l.version)).block));
  return blocks;
}

void add_tensors(const Graph& g, const Frontier& frontier, const Schedule& schedule, MemoryReport* report) {
  const PlanProblem& problem = frontier.problem;
  std::vector<size_t> all(problem.blocks.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  const std::vector<size_t> largest = largest_first(problem, std::move(all));
  find_lines_ahead(g);
  report->tensors = describe(g, frontier, schedule, largest);
  report->at_peak = describe(g, frontier, schedule, largest_first(problem, alive_at_peak(schedule)));
  std::vector<int> tensor(problem.blocks.size(), -1);
  for (size_t i = 0; i < largest.size(); ++i) tensor[largest[i]] = int(i);
  for (const VersionLife& l : lives_of(schedule)) {
    const PlanVersion& version = schedule.version(int(l.version));
    report->lives.push_back({l.first, l.last, problem.blocks[size_t(version.block)].bytes,
                             schedule.run(version.maker).again, tensor[size_t(version.block)]});
  }
  report->num_steps = int(schedule.order().size());
}

std::string line_of(const MemoryReport::Tensor& t) {
  return readable_bytes(t.bytes) + "  " + t.op + " " + t.shape +
         (t.recomputed ? "  made again " + std::to_string(t.recomputed) + " x" : "  kept") +
         (t.site.empty() ? "" : "  " + t.site);
}

// The step that needs most at once, in words: what holds the smallest budget up.
std::string tightest_step(const Graph& g, const PlanProblem& p) {
  int64_t most = -1;
  const PlanStep* step = nullptr;
  for (const PlanStep& s : p.steps) {
    int64_t bytes = s.scratch;
    for (const auto* list : {&s.reads, &s.writes})
      for (const int b : *list) bytes += p.blocks[size_t(b)].bytes;
    if (s.node >= 0 && bytes > most) most = bytes, step = &s;
  }
  if (!step) return "nothing";
  const Node& n = g.node(step->node);
  if (n.outputs.empty()) return n.op->name + " alone reads " + readable_bytes(most);
  const std::string line = line_of(g, n.outputs[0]);
  std::string text = made_by(g, n.outputs[0]) + " alone reads and writes " + readable_bytes(most) +
                     " to make " + type_of(g.value(n.outputs[0]));
  if (step->scratch > 0) text += ", " + readable_bytes(step->scratch) + " of it scratch memory";
  return line.empty() ? text : text + " (" + line + ")";
}

// What is alive at the fullest moment of the plan that needs least, in a line.
std::string names_of_largest(const Graph& g, const Frontier& frontier) {
  const Schedule least(frontier.problem, frontier.plans.back().schedule);
  std::string text;
  const Tensors list = describe(g, frontier, least, largest_first(frontier.problem, alive_at_peak(least)));
  for (size_t i = 0; i < list.size() && i < 4; ++i)
    text += (i ? ", " : "") + readable_bytes(list[i].bytes) + " of " + list[i].op + " " + list[i].shape +
            (list[i].site.empty() ? "" : " (" + list[i].site + ")");
  return text + (list.size() > 4 ? ", ..." : "");
}

// Joins second runs with groups of the backward pass, as many as fit into `room` bytes; gives what that
// saves.
struct Joins {
  FrontierPlan plan;
  double saved = 0;
};

Joins join_in_room(Graph* graph, const std::vector<NodeId>& again, int64_t room) {
  const std::vector<JoinedRun> all = find_joins(*graph, again);
  std::vector<JoinedRun> kept;
  Graph best;
  Joins result;
  int attempts = kMostAttempts;
  const std::function<void(size_t, size_t)> add = [&](size_t from, size_t to) {
    if (from == to || attempts-- == 0) return;
    std::vector<JoinedRun> more = kept;
    more.insert(more.end(), all.begin() + std::ptrdiff_t(from), all.begin() + std::ptrdiff_t(to));
    Graph joined = join_runs(*graph, more);
    const PlanProblem problem = plan_problem(joined);
    const FrontierPlan plan = measure_plan(problem, Schedule(problem));
    if (plan.bytes <= room) {
      kept = std::move(more);
      best = std::move(joined);
      result.plan = plan;
    } else if (to - from > 1) {
      add(from, (from + to) / 2);
      add((from + to) / 2, to);
    }
  };
  add(0, all.size());
  if (kept.empty()) return result;
  const auto cost_of_all = [](const Graph& g) {
    double sum = 0;
    for (const Node& n : g.nodes()) sum += cost_of(g, n);
    return sum;
  };
  result.saved = std::max(0.0, cost_of_all(*graph) - cost_of_all(best));
  *graph = std::move(best);
  return result;
}

}  // namespace

std::shared_ptr<const MemoryReport> keep_budget(Graph* graph, int64_t budget) {
  const std::shared_ptr<const Frontier> frontier = memory_frontier(*graph);
  const LoopBudget loops(*graph);
  // What is only kept for speed gives way.
  reclaim_memory();
  drop_values(std::numeric_limits<int64_t>::max());
  cpu_device().allocator().trim();
  auto report = std::make_shared<MemoryReport>();
  report->name = graph->name;
  report->budget = budget;
  const MemoryStats stats = cpu_device().allocator().stats();
  report->held = stats.in_use;
  // Parts of blocks that nobody uses, and cannot be given back alone, count too.
  const int64_t taken = stats.reserved;
  report->lower_bound = frontier->lower_bound;
  const double base_cost = std::max(1.0, frontier->base_cost + loops.base_cost());
  for (const LoopBudget::Choice& c : loops.curve(*frontier))
    report->curve.push_back({taken + c.bytes, c.extra_cost / base_cost});
  const LoopBudget::Choice choice =
      budget > 0 ? loops.choose(*frontier, budget - taken) : loops.free(*frontier);
  const FrontierPlan* plan = choice.plan;
  if (!plan) {
    const int64_t least = frontier->plans.back().bytes + loops.fewest_bytes();
    const int64_t smallest = taken + least + kSmallConstants;
    fail_exhausted(graph->name, "a memory budget of " + readable_bytes(budget) +
                                    " cannot be kept. The smallest that works is " +
                                    readable_bytes(smallest) + " (" + std::to_string(smallest) +
                                    " bytes): parameters, optimizer state, inputs and other tensors hold " +
                                    readable_bytes(taken) + ", the step needs " + readable_bytes(least) +
                                    " more, and " + tightest_step(*graph, frontier->problem) +
                                    ". Then alive: " + names_of_largest(*graph, *frontier));
  }
  report->arena = plan->arena_bytes;
  report->owned = plan->owned_bytes + choice.bytes - plan->bytes;
  report->predicted_peak = report->held + choice.bytes;
  report->loops = loops.describe(choice);
  const Schedule schedule(frontier->problem, plan->schedule);
  report->largest_live = schedule.peak();
  report->extra_compute = choice.extra_cost / base_cost;
  report->second_runs = schedule.second_runs();
  add_tensors(*graph, *frontier, schedule, report.get());
  if (budget > 0) {
    std::vector<NodeId> again;
    *graph = apply_plan(*graph, frontier->problem, schedule, &again);
    LoopBudget::apply(graph, choice);
    if (const Joins joins = join_in_room(graph, again, plan->bytes + budget - taken - choice.bytes);
        joins.plan.bytes > 0) {
      report->arena = joins.plan.arena_bytes;
      report->owned += joins.plan.owned_bytes - plan->owned_bytes;
      report->predicted_peak += joins.plan.bytes - plan->bytes;
      report->extra_compute = std::max(0.0, report->extra_compute - joins.saved / base_cost);
    }
  }
  return report;
}

namespace {

std::mutex g_last_mutex;
std::shared_ptr<const MemoryReport>& last_report() {
  static auto* last = new std::shared_ptr<const MemoryReport>();
  return *last;
}

}  // namespace

void set_last_memory_report(std::shared_ptr<const MemoryReport> report) {
  const std::lock_guard lock(g_last_mutex);
  last_report() = std::move(report);
}

std::shared_ptr<const MemoryReport> last_memory_report() {
  const std::lock_guard lock(g_last_mutex);
  return last_report();
}

std::string MemoryReport::to_string() const {
  std::string text = "memory plan: predicted peak " + readable_bytes(predicted_peak);
  text += budget > 0 ? " of a budget of " + readable_bytes(budget) : ", no budget";
  text += "\n  held by other tensors " + readable_bytes(held) + ", arena " + readable_bytes(arena) +
          ", results " + readable_bytes(owned);
  const double ratio = largest_live > 0 ? double(arena + owned) / double(largest_live) : 1.0;
  text += "\n  " + std::to_string(second_runs) + " second runs, " + fixed_text(100 * extra_compute, 1) +
          "% more work; arena / most alive at once " + fixed_text(ratio, 3) + "\n";
  for (const Loop& l : loops) {
    text += "  a loop of " + (l.steps < 0 ? "unknown length" : std::to_string(l.steps) + " iterations");
    text += " keeps " + std::to_string(l.states) + " states of " + readable_bytes(l.state_bytes);
    if (l.advances >= 0) text += ", " + std::to_string(l.advances) + " advances";
    text += (l.site.empty() ? "" : "  " + l.site) + "\n";
  }
  const auto list = [&](const char* title, const std::vector<Tensor>& which) {
    if (!which.empty()) text += title;
    for (size_t i = 0; i < which.size() && i < kMostLines; ++i) text += "  " + line_of(which[i]) + "\n";
  };
  list("alive at the fullest moment:\n", at_peak);
  list("largest of all:\n", tensors);
  return text;
}

}  // namespace rw
