// Updates of variables move up, to where their inputs are ready: a gradient is then free as soon as its
// parameter has taken it, and still in the cache when it does. Small values (a learning rate, powers of
// betas) move up too, so that no update waits for them. An update stays behind the readers of its variable's
// snapshot: while somebody holds that, writing would copy the variable.
#include <algorithm>
#include <unordered_map>

#include "rewind/compiler/passes/passes.h"

namespace rw {
namespace {

constexpr int64_t kSmallElements = 64;

// A write to variables that gives nothing to others.
bool is_update(const Graph& g, const Node& n) {
  if (!n.op->stateful || !n.outputs.empty()) return false;
  const Effects effects = effects_of(n);
  if (!effects.writes || effects.other) return false;
  for (const ValueId v : n.inputs)
    if (g.value(v).dtype == DType::kResource) return true;
  return false;
}

// A small value of small values, or a small variable's.
bool is_small(const Graph& g, const Node& n) {
  if (n.outputs.empty() || (n.op->runtime && n.op->name != "_Fused")) return false;
  if (n.op->stateful && n.op->name != "ReadVariableOp") return false;
  int64_t elements = 0;
  for (const ValueId v : n.outputs) {
    if (!g.value(v).shape.fully_known() || is_host_only(g.value(v).dtype)) return false;
    elements += g.value(v).shape.num_elements();
  }
  for (const ValueId v : n.inputs) {
    if (g.value(v).dtype == DType::kResource) continue;
    if (!g.value(v).shape.fully_known()) return false;
    elements = std::max(elements, g.value(v).shape.num_elements());
  }
  return elements <= kSmallElements;
}

}  // namespace

Graph update_early(Graph graph) {
  const size_t count = graph.nodes().size();
  std::vector<NodeId> place(count);  // the node behind which it may come; itself where it stays
  std::unordered_map<ValueId, NodeId> touched, written;  // by handle: places
  std::unordered_map<ValueId, ValueId> snapshot_of;      // handles
  std::vector<std::vector<NodeId>> behind(count + 1);    // [count]: before all
  NodeId barrier = -1;
  for (size_t i = 0; i < count; ++i) {
    const Node& n = graph.nodes()[i];
    const bool update = is_update(graph, n);
    NodeId& at = place[i] = NodeId(i);
    if (update || is_small(graph, n)) {
      at = n.op->stateful ? barrier : -1;
      for (const ValueId v : n.inputs) {
        if (const NodeId maker = graph.value(v).node; maker >= 0) at = std::max(at, place[size_t(maker)]);
        const auto& limits = update ? touched : written;
        if (const auto last = limits.find(v); last != limits.end()) at = std::max(at, last->second);
      }
      behind[at < 0 ? count : size_t(at)].push_back(NodeId(i));
    } else if (n.op->stateful && effects_of(n).other) {
      barrier = NodeId(i);
    }
    for (const ValueId v : n.inputs) {
      const auto snapshot = snapshot_of.find(v);
      if (snapshot == snapshot_of.end()) continue;
      NodeId& last = touched.emplace(snapshot->second, at).first->second;
      last = std::max(last, at);
      if (n.op->view) snapshot_of.emplace(n.outputs[0], snapshot->second);
    }
    if (n.op->name == "ReadVariableOp") snapshot_of.emplace(n.outputs[0], n.inputs[0]);
    const bool writes = n.op->stateful && effects_of(n).must_run();
    for (const ValueId v : n.inputs) {
      if (graph.value(v).dtype != DType::kResource) continue;
      for (auto* map : {&touched, writes ? &written : nullptr}) {
        if (!map) continue;
        NodeId& last = map->emplace(v, at).first->second;
        last = std::max(last, at);
      }
    }
  }
  std::vector<NodeId> order(behind[count]);
  order.reserve(count);
  std::vector<uint8_t> moved(count, 0);
  for (const auto& list : behind)
    for (const NodeId id : list) moved[size_t(id)] = 1;
  for (size_t i = 0; i < count; ++i) {
    if (moved[i]) continue;
    order.push_back(NodeId(i));
    order.insert(order.end(), behind[i].begin(), behind[i].end());
  }
  graph.reorder(order);
  return graph;
}

}  // namespace rw
