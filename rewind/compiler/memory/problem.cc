#include "rewind/compiler/memory/problem.h"

#include <algorithm>
#include <unordered_map>

#include "rewind/compiler/memory/cost.h"
#include "rewind/compiler/memory/probe.h"
#include "rewind/compiler/plan_memory.h"
#include "rewind/compiler/who_runs.h"
#include "rewind/graph/uses.h"

namespace rw {
namespace {

int64_t arena_bytes_of(const GraphValue& v) {
  if (!v.shape.fully_known() || is_host_only(v.dtype)) return 0;
  return arena_rounded(v.shape.num_elements() * int64_t(size_of(v.dtype)));
}

void add_unique(std::vector<int>& list, int x) {
  if (std::find(list.begin(), list.end(), x) == list.end()) list.push_back(x);
}

// For each output of a group, which arguments it depends on.
std::vector<std::vector<int>> arguments_by_output(const Graph& body) {
  std::vector<std::vector<int>> by_value(body.num_values());
  for (size_t i = 0; i < body.arguments.size(); ++i) by_value[size_t(body.arguments[i])] = {int(i)};
  for (const Node& n : body.nodes()) {
    std::vector<int> all;
    for (const ValueId v : n.inputs)
      for (const int a : by_value[size_t(v)]) add_unique(all, a);
    for (const ValueId v : n.outputs) by_value[size_t(v)] = all;
  }
  std::vector<std::vector<int>> result;
  for (const ValueId v : body.outputs) result.push_back(by_value[size_t(v)]);
  return result;
}

bool runs_again(const Node& n, Runs runs) {
  if (n.op->stateful || effects_of(n).any()) return false;
  return runs == Runs::kKernel || runs == Runs::kNative || runs == Runs::kRows;
}

}  // namespace

PlanProblem plan_problem(const Graph& g) {
  PlanProblem p;
  p.block_of.assign(g.num_values(), -1);
  const Uses uses(g);
  std::vector<ValueId> handle_of(g.num_values(), -1);     // of a variable's snapshot and what renames it
  std::unordered_map<ValueId, std::vector<int>> writers;  // by handle: steps
  for (size_t i = 0; i < g.nodes().size(); ++i) {
    if (!uses.needed[i]) continue;
    const Node& n = g.nodes()[i];
    const Runs runs = who_runs(g, n);
    if (runs == Runs::kConstant) continue;
    if (runs == Runs::kAlias) {
      p.block_of[size_t(n.outputs[0])] = p.block_of[size_t(n.inputs[0])];
      handle_of[size_t(n.outputs[0])] = handle_of[size_t(n.inputs[0])];
      continue;
    }
    const int step = int(p.steps.size());
    PlanStep& s = p.steps.emplace_back();
    s.node = NodeId(i);
    s.again = runs_again(n, runs);
    s.trims = runs == Runs::kNative;
    s.cost = s.again ? cost_of(g, n) : 0;
    s.scratch = scratch_of(g, n);
    for (const ValueId v : n.inputs)
      if (p.block_of[size_t(v)] >= 0) add_unique(s.reads, p.block_of[size_t(v)]);
    if (runs == Runs::kRead) {
      handle_of[size_t(n.outputs[0])] = n.inputs[0];
      continue;
    }
    if (n.op->stateful && effects_of(n).must_run())
      for (const ValueId v : n.inputs)
        if (g.value(v).dtype == DType::kResource) writers[v].push_back(step);
    for (const ValueId v : n.outputs) {
      p.block_of[size_t(v)] = int(p.blocks.size());
      s.writes.push_back(int(p.blocks.size()));
      p.blocks.push_back({arena_bytes_of(g.value(v)), v, step});
    }
    if (runs == Runs::kEager || runs == Runs::kAssign)
      for (const auto* list : {&s.reads, &s.writes})
        for (const int b : *list) p.blocks[size_t(b)].owned = true;
    if (!s.trims) continue;
    for (const std::vector<int>& arguments : arguments_by_output(*graph_attr(n, "f"))) {
      std::vector<int>& needed = s.needs.emplace_back();
      for (const int a : arguments) {
        const int block = p.block_of[size_t(n.inputs[size_t(a)])];
        if (block < 0) continue;
        add_unique(needed, int(std::find(s.reads.begin(), s.reads.end(), block) - s.reads.begin()));
      }
    }
  }
  PlanStep& end = p.steps.emplace_back();
  for (const ValueId v : g.outputs) {
    if (p.block_of[size_t(v)] < 0) continue;
    add_unique(end.reads, p.block_of[size_t(v)]);
    p.blocks[size_t(p.block_of[size_t(v)])].owned = true;
  }

  for (size_t i = 0; i + 1 < p.steps.size(); ++i) {
    PlanStep& s = p.steps[i];
    for (const ValueId v : g.node(s.node).inputs) {
      const auto found = writers.find(handle_of[size_t(v)]);
      if (handle_of[size_t(v)] < 0 || found == writers.end()) continue;
      const auto next = std::upper_bound(found->second.begin(), found->second.end(), int(i));
      if (next != found->second.end() && (s.latest < 0 || *next < s.latest)) s.latest = *next;
    }
  }
  return p;
}

}  // namespace rw
