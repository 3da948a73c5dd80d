#include "rewind/compiler/memory/join_runs.h"

#include <algorithm>
#include <unordered_map>

#include "rewind/compiler/build_loops.h"
#include "rewind/compiler/passes/passes.h"
#include "rewind/compiler/who_runs.h"
#include "rewind/graph/copy.h"
#include "rewind/op/table.h"

namespace rw {
namespace {

constexpr size_t kFurthest = 64;  // nodes between a second run and the group it joins

const Op& fused_op() {
  static const Op& op = find_op("_Fused");
  return op;
}

template <class List, class T>
bool contains(const List& list, const T& x) {
  return std::find(list.begin(), list.end(), x) != list.end();
}

// A second run, its results under all their names, and who reads them first.
struct Stretch {
  std::vector<NodeId> renames;
  std::vector<ValueId> values;
  NodeId reader = -1;
};

Stretch stretch_of(const Graph& g, NodeId again) {
  Stretch s;
  const Node& n = g.node(again);
  s.values.assign(n.outputs.begin(), n.outputs.end());
  const size_t end = std::min(g.nodes().size(), size_t(again) + kFurthest);
  for (size_t i = size_t(again) + 1; i < end; ++i) {
    const Node& m = g.nodes()[i];
    const bool reads =
        std::any_of(m.inputs.begin(), m.inputs.end(), [&](ValueId v) { return contains(s.values, v); });
    if (reads && who_runs(g, m) != Runs::kAlias) {
      s.reader = NodeId(i);
      return s;
    }
    if (reads) {
      s.renames.push_back(NodeId(i));
      s.values.push_back(m.outputs[0]);
    } else if (m.op->stateful && effects_of(m).must_run()) {
      return s;  // it may write a variable whose snapshot the run reads
    }
  }
  return s;
}

// The joined group as a function, with its inputs in the graph around it.
struct Joined {
  std::shared_ptr<const Graph> body;
  std::vector<ValueId> inputs;
};

// `group` and `more` as one group. more_inputs are named as the arguments of `group` are in `inputs`, which
// grows.
Graph one_group(const Graph& group, std::vector<ValueId>* inputs, const Graph& more,
                const std::vector<ValueId>& more_inputs) {
  Graph both;
  both.name = group.name;
  GraphCopy copy(group, both);
  copy.arguments();
  for (size_t i = 0; i < group.nodes().size(); ++i) copy.node(NodeId(i));
  copy.outputs();
  GraphCopy second(more, both);
  for (size_t i = 0; i < more.arguments.size(); ++i) {
    const auto at = std::find(inputs->begin(), inputs->end(), more_inputs[i]) - inputs->begin();
    if (at < std::ptrdiff_t(inputs->size())) {
      second.set(more.arguments[i], both.arguments[size_t(at)]);
    } else {
      second.argument(more.arguments[i]);
      inputs->push_back(more_inputs[i]);
    }
  }
  for (size_t i = 0; i < more.nodes().size(); ++i) second.node(NodeId(i));
  second.outputs();
  return share_subexpressions(std::move(both));
}

// Nothing when the two do not go into one nest of loops.
Joined joined(const Graph& g, const Node& again, const Node& into) {
  const std::shared_ptr<const Graph> more = graph_attr(again, "f"), whole = graph_attr(into, "f");
  const std::vector<ValueId> more_inputs(again.inputs.begin(), again.inputs.end());
  Joined j;
  j.inputs.assign(into.inputs.begin(), into.inputs.end());
  if (who_runs(g, into) == Runs::kNative) {
    Graph both = one_group(*whole, &j.inputs, *more, more_inputs);
    if (build_loops(both)) j.body = std::make_shared<const Graph>(std::move(both));
    return j;
  }
  // A kernel with a group behind its rows: the last node.
  auto body = std::make_shared<Graph>();
  body->name = whole->name;
  GraphCopy copy(*whole, *body);
  copy.arguments();
  const Node& group = whole->nodes().back();
  if (group.op != &fused_op()) return j;
  for (size_t i = 0; i + 1 < whole->nodes().size(); ++i) copy.node(NodeId(i));
  std::vector<ValueId> inner_inputs, inner_more;
  for (const ValueId v : group.inputs) inner_inputs.push_back(copy[v]);
  for (const ValueId v : more_inputs) {
    const auto at = std::find(j.inputs.begin(), j.inputs.end(), v) - j.inputs.begin();
    if (at == std::ptrdiff_t(j.inputs.size())) {
      j.inputs.push_back(v);
      body->add_argument(g.value(v).dtype, g.value(v).shape);
    }
    inner_more.push_back(body->arguments[size_t(at)]);
  }
  Graph both = one_group(*graph_attr(group, "f"), &inner_inputs, *more, inner_more);
  if (!build_row_loops(both)) return j;
  const std::vector<DType> dtypes = both.output_types();
  const std::vector<Shape> shapes = both.output_shapes();
  const NodeId made =
      body->add_node(fused_op(),
                     {{"f", BodyRef(std::shared_ptr<const Graph>(std::make_shared<Graph>(std::move(both))))},
                      {"Tout", dtypes}},
                     inner_inputs, dtypes, shapes);
  for (const ValueId v : body->node(made).outputs) body->outputs.push_back(v);
  j.body = std::move(body);
  return j;
}

// Whether the group could stand in front of `reader`, and reads a large value of the second run.
bool fits(const Graph& g, const Node& again, const Node& into, NodeId reader) {
  if (into.op != &fused_op()) return false;
  const Runs runs = who_runs(g, into);
  if (runs != Runs::kNative && runs != Runs::kRows) return false;
  for (const ValueId v : into.inputs)
    if (g.value(v).node >= reader) return false;
  const Shape& domain = g.value(again.outputs[0]).shape;
  const auto large = [&](ValueId v) {
    return g.value(v).shape.num_elements() == domain.num_elements() && contains(again.inputs, v);
  };
  return std::any_of(into.inputs.begin(), into.inputs.end(), large) &&
         std::any_of(into.outputs.begin(), into.outputs.end(),
                     [&](ValueId v) { return g.value(v).shape == domain; });
}

}  // namespace

std::vector<JoinedRun> find_joins(const Graph& g, const std::vector<NodeId>& again) {
  std::vector<JoinedRun> joins;
  std::vector<uint8_t> later(g.num_values(), 0);    // values that will be made later than now
  std::vector<uint8_t> earlier(g.num_values(), 0);  // values that nodes which move up read
  std::vector<uint8_t> taken(g.nodes().size(), 0);
  for (const NodeId id : again) {
    const Node& n = g.node(id);
    if (taken[size_t(id)] || n.op != &fused_op() || who_runs(g, n) != Runs::kNative) continue;
    const auto waits = [&](const Node& m) {
      return std::any_of(m.inputs.begin(), m.inputs.end(), [&](ValueId v) { return later[size_t(v)] != 0; });
    };
    const Stretch s = stretch_of(g, id);
    if (s.reader < 0 || waits(n)) continue;
    if (std::any_of(s.values.begin(), s.values.end(), [&](ValueId v) { return earlier[size_t(v)] != 0; }))
      continue;
    const size_t end = std::min(g.nodes().size(), size_t(s.reader) + kFurthest);
    for (size_t i = size_t(s.reader) + 1; i < end; ++i) {
      const Node& into = g.nodes()[i];
      if (taken[i] || !fits(g, n, into, s.reader) || waits(into)) continue;
      if (std::any_of(into.inputs.begin(), into.inputs.end(),
                      [&](ValueId v) { return contains(s.values, v); }))
        continue;
      if (!joined(g, n, into).body) continue;
      joins.push_back({id, NodeId(i), s.reader});
      taken[size_t(id)] = taken[i] = 1;
      for (const ValueId v : s.values) later[size_t(v)] = 1;
      for (const ValueId v : into.inputs) earlier[size_t(v)] = 1;
      for (const ValueId v : n.inputs) earlier[size_t(v)] = 1;
      break;
    }
  }
  return joins;
}

Graph join_runs(const Graph& g, const std::vector<JoinedRun>& joins) {
  std::unordered_map<NodeId, std::vector<const JoinedRun*>> before;
  std::vector<uint8_t> moved(g.nodes().size(), 0);
  for (const JoinedRun& j : joins) {
    before[j.before].push_back(&j);
    moved[size_t(j.again)] = moved[size_t(j.into)] = 1;
    for (const NodeId id : stretch_of(g, j.again).renames) moved[size_t(id)] = 1;
  }
  Graph to;
  to.name = g.name;
  GraphCopy copy(g, to);
  copy.arguments();
  const auto emit = [&](const JoinedRun& j) {
    const Node &again = g.node(j.again), &into = g.node(j.into);
    const Joined both = joined(g, again, into);
    std::vector<ValueId> inputs;
    for (const ValueId v : both.inputs) inputs.push_back(copy[v]);
    const std::vector<DType> dtypes = both.body->output_types();
    const NodeId made = to.add_node(fused_op(), {{"f", BodyRef(both.body)}, {"Tout", dtypes}}, inputs, dtypes,
                                    both.body->output_shapes());
    to.node(made).site = into.site;
    to.node(made).name = into.name;
    const IdList& outputs = to.node(made).outputs;
    for (size_t k = 0; k < into.outputs.size(); ++k) copy.set(into.outputs[k], outputs[k]);
    for (size_t k = 0; k < again.outputs.size(); ++k)
      copy.set(again.outputs[k], outputs[into.outputs.size() + k]);
    for (const NodeId id : stretch_of(g, j.again).renames) copy.node(id);
  };
  for (size_t i = 0; i < g.nodes().size(); ++i) {
    if (const auto found = before.find(NodeId(i)); found != before.end())
      for (const JoinedRun* j : found->second) emit(*j);
    if (!moved[i]) copy.node(NodeId(i));
  }
  copy.outputs();
  return to;
}

}  // namespace rw
