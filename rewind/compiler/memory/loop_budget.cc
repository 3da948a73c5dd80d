#include "rewind/compiler/memory/loop_budget.h"

#include <algorithm>

#include "rewind/base/call_site.h"
#include "rewind/compiler/compiled_graph.h"
#include "rewind/compiler/memory/cost.h"
#include "rewind/compiler/rewrite.h"
#include "rewind/device/memory_budget.h"
#include "rewind/runtime/loop_schedule.h"

namespace rw {
namespace {

constexpr int64_t kFewestStates = 3;
constexpr int64_t kMostStates = int64_t(1) << 32;
constexpr int64_t kGuessedSteps = 1000;

bool keeps_states(const Node& n) {
  return n.op->name == "_KeepingWhile" || n.op->name == "_StatelessKeepingWhile";
}

int64_t block_bytes_of(const GraphValue& v) {
  if (!v.shape.fully_known() || is_host_only(v.dtype)) return 0;
  return block_bytes(cpu_device(), v.shape.num_elements() * int64_t(size_of(v.dtype)));
}

// What a body takes while it runs, and keeps for its next run.
int64_t body_bytes(const Graph& body) {
  const std::shared_ptr<const Program> program = program_of_body(body);
  if (!program) return 0;
  int64_t bytes = program->arena_bytes > 0 ? block_bytes(cpu_device(), int64_t(program->arena_bytes)) : 0;
  for (size_t i = 0; i < program->values.size(); ++i) {
    const ProgramValue& v = program->values[i];
    if (v.root != int32_t(i) || v.place.kind != Place::kOwned || !v.shape.fully_known()) continue;
    if (!is_host_only(v.dtype)) bytes += block_bytes(cpu_device(), v.size * int64_t(size_of(v.dtype)));
  }
  return bytes;
}

double cost_of_body(const Graph& body) {
  double cost = 0;
  for (const Node& n : body.nodes()) cost += cost_of(body, n);
  return cost;
}

// The number of iterations, where counters and limits are known while compiling.
int64_t steps_of(const Graph& g, const Node& n) {
  const auto list = [&](const char* name) { return attr_as<std::vector<int64_t>>(*n.op, n.attrs, name); };
  const std::vector<int64_t> counters = list("counters"), limits = list("limits"), numbers = list("numbers"),
                             strides = list("strides");
  int64_t steps = -1;
  for (size_t i = 0; i < counters.size(); ++i) {
    const HostTensor& from = g.value(n.inputs[size_t(counters[i])]).known;
    if (!from.data) return -1;
    int64_t to = numbers[i];
    if (limits[i] >= 0) {
      const HostTensor& limit = g.value(n.inputs[size_t(limits[i])]).known;
      if (!limit.data) return -1;
      to += int64_t(known_element(limit, 0));
    }
    const int64_t left = to - int64_t(known_element(from, 0));
    const int64_t most = left <= 0 ? 0 : (left + strides[i] - 1) / strides[i];
    steps = steps < 0 ? most : std::min(steps, most);
  }
  return steps;
}

}  // namespace

LoopBudget::LoopBudget(const Graph& g) {
  for (const Node& n : g.nodes()) {
    if (n.op->name == "_BackWhile") {
      const std::shared_ptr<const Graph> body = graph_attr(n, "body");
      fixed_ += body_bytes(*graph_attr(n, "advance")) + body_bytes(*body);
      for (const ValueId v : body->arguments) fixed_ += block_bytes_of(body->value(v));
      continue;
    }
    if (!keeps_states(n)) continue;
    const std::shared_ptr<const Graph> body = graph_attr(n, "body");
    Loop& loop = loops_.emplace_back();
    for (const int64_t i : attr_as<std::vector<int64_t>>(*n.op, n.attrs, "kept"))
      loop.state_bytes += block_bytes_of(body->value(body->arguments[size_t(i)]));
    loop.state_bytes = std::max<int64_t>(loop.state_bytes, 1);
    loop.steps = steps_of(g, n);
    loop.cost = cost_of_body(*body);
    if (n.site) loop.site = static_cast<const CallSite*>(n.site.get())->describe();
    fixed_ += body_bytes(*body) + body_bytes(*graph_attr(n, "cond"));
    // Forwards and backwards; a derivative takes about twice what the body does.
    base_cost_ += 3 * loop.cost * double(loop.steps < 0 ? kGuessedSteps : loop.steps);
  }
}

int64_t LoopBudget::fewest_bytes() const {
  int64_t bytes = fixed_;
  for (const Loop& l : loops_)
    bytes += l.state_bytes * (l.steps < 0 ? kFewestStates : std::min(l.steps, kFewestStates));
  return bytes;
}

// `room` bytes for states, in the same proportion to what each loop would take to keep all.
LoopBudget::Choice LoopBudget::with(const FrontierPlan& plan, int64_t room) const {
  Choice c{&plan, {}, plan.bytes + fixed_, plan.extra_cost};
  double all = 0;
  for (const Loop& l : loops_) all += double(l.state_bytes) * double(l.steps < 0 ? kGuessedSteps : l.steps);
  for (const Loop& l : loops_) {
    const int64_t steps = l.steps < 0 ? kGuessedSteps : l.steps;
    auto states = int64_t(double(room) / std::max(1.0, all) * double(steps));
    states = std::clamp(states, kFewestStates, l.steps < 0 ? kMostStates : std::max(l.steps, kFewestStates));
    c.states.push_back(states);
    c.bytes += l.state_bytes * (l.steps < 0 ? states : std::min(states, l.steps));
    c.extra_cost += l.cost * double(std::max<int64_t>(0, least_advances(steps, states) - steps));
  }
  return c;
}

LoopBudget::Choice LoopBudget::choose(const Frontier& frontier, int64_t bytes) const {
  if (loops_.empty()) {
    const FrontierPlan* plan = frontier.find(bytes);
    return plan ? Choice{plan, {}, plan->bytes, plan->extra_cost} : Choice{};
  }
  Choice best;
  for (const FrontierPlan& p : frontier.plans) {
    if (p.bytes + fewest_bytes() > bytes) continue;
    Choice c = with(p, bytes - p.bytes - fixed_);
    if (c.bytes <= bytes && (!best.plan || c.extra_cost < best.extra_cost)) best = std::move(c);
  }
  // Rounding up to the fewest states may have taken the room of another loop.
  if (!best.plan && frontier.plans.back().bytes + fewest_bytes() <= bytes)
    best = with(frontier.plans.back(), 0);
  return best;
}

LoopBudget::Choice LoopBudget::free(const Frontier& frontier) const {
  int64_t all = 0;
  for (const Loop& l : loops_) all += l.state_bytes * (l.steps < 0 ? kGuessedSteps : l.steps);
  return with(frontier.plans.front(), all);
}

std::vector<LoopBudget::Choice> LoopBudget::curve(const Frontier& frontier) const {
  std::vector<Choice> all;
  for (const FrontierPlan& p : frontier.plans) {
    int64_t room = 0;
    for (const Loop& l : loops_) room += l.state_bytes * (l.steps < 0 ? kGuessedSteps : l.steps);
    for (int k = 0; k < (loops_.empty() ? 1 : 40); ++k, room = room * 3 / 4) all.push_back(with(p, room));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Choice& a, const Choice& b) { return a.bytes > b.bytes; });
  std::vector<Choice> list;
  for (Choice& c : all) {
    while (!list.empty() && list.back().extra_cost >= c.extra_cost) list.pop_back();
    if (list.empty() || c.bytes < list.back().bytes) list.push_back(std::move(c));
  }
  return list;
}

std::vector<MemoryReport::Loop> LoopBudget::describe(const Choice& choice) const {
  std::vector<MemoryReport::Loop> list;
  for (size_t i = 0; i < loops_.size(); ++i) {
    const Loop& l = loops_[i];
    list.push_back({l.steps, choice.states[i], l.state_bytes,
                    l.steps < 0 ? -1 : least_advances(l.steps, choice.states[i]), l.site});
  }
  return list;
}

void LoopBudget::apply(Graph* graph, const Choice& choice) {
  size_t next = 0;
  for (size_t i = 0; i < graph->nodes().size(); ++i) {
    Node& n = graph->node(NodeId(i));
    if (keeps_states(n)) n.attrs = n.attrs.with("states", choice.states[next++]);
  }
}

}  // namespace rw
