// Updates of variables move up, to where their inputs are ready: a gradient is then free as soon as its
// parameter has taken it, and still in the cache when it does. What only updates read (a gradient's product
// with its scaling) moves up with them, so that what it reads is free early too. Small values (a learning
// rate, powers of betas) move up, so that no update waits for them. An update stays behind the readers of its
// variable's snapshot: while somebody holds that, writing would copy the variable.
#include <algorithm>
#include <unordered_map>

#include "rewind/compiler/passes/passes.h"
#include "rewind/graph/uses.h"

namespace rw {
namespace {

constexpr int64_t kSmallElements = 64;
constexpr NodeId kNear = 16;

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

// By node: it has no effects, and all that it makes is read once, by an update or by such a node.
std::vector<uint8_t> find_feeders(const Graph& g) {
  const Uses uses(g);
  std::vector<NodeId> reader(g.num_values(), -1);
  for (size_t i = 0; i < g.nodes().size(); ++i)
    for (const ValueId v : g.nodes()[i].inputs) reader[size_t(v)] = NodeId(i);
  std::vector<uint8_t> feeds(g.nodes().size(), 0);
  for (size_t i = g.nodes().size(); i-- > 0;) {
    const Node& n = g.nodes()[i];
    if (n.op->stateful || effects_of(n).any() || n.outputs.size() != 1) continue;
    const ValueId made = n.outputs[0];
    const NodeId by = reader[size_t(made)];
    feeds[i] = uses.count[size_t(made)] == 1 && by >= 0 && (feeds[size_t(by)] || is_update(g, g.node(by)));
  }
  return feeds;
}

// The feeders of an update, in order.
std::vector<NodeId> chain_of(const Graph& g, const Node& update, const std::vector<uint8_t>& feeds) {
  std::vector<NodeId> chain;
  const auto add = [&](const Node& n) {
    for (const ValueId v : n.inputs)
      if (const NodeId maker = g.value(v).node; maker >= 0 && feeds[size_t(maker)]) chain.push_back(maker);
  };
  add(update);
  for (size_t i = 0; i < chain.size(); ++i) add(g.node(chain[i]));
  std::sort(chain.begin(), chain.end());
  return chain;
}

}  // namespace

Graph update_early(Graph graph) {
  const size_t count = graph.nodes().size();
  const std::vector<uint8_t> feeds = find_feeders(graph);
  std::vector<NodeId> place(count);      // the node behind which it may come; itself where it stays
  std::vector<NodeId> ready(count);      // of feeders: the place where their inputs are there; else `place`
  std::vector<uint8_t> waits(count, 0);  // feeders for their updates
  std::unordered_map<ValueId, NodeId> touched, written;                 // by handle: places
  std::unordered_map<ValueId, std::vector<NodeId>> touched_by_feeders;  // whose updates are still to come
  std::unordered_map<ValueId, ValueId> snapshot_of;                     // handles
  std::vector<std::vector<NodeId>> behind(count + 1);                   // [count]: before all
  NodeId barrier = -1;
  const auto raise = [](auto& places, ValueId handle, NodeId at) {
    NodeId& last = places.emplace(handle, at).first->second;
    last = std::max(last, at);
  };
  for (size_t i = 0; i < count; ++i) {
    const Node& n = graph.nodes()[i];
    const bool update = is_update(graph, n);
    const bool small = is_small(graph, n) && std::none_of(n.inputs.begin(), n.inputs.end(), [&](ValueId v) {
                         return graph.value(v).node >= 0 && waits[size_t(graph.value(v).node)];
                       });
    NodeId& at = place[i] = ready[i] = NodeId(i);
    if (feeds[i] && !small) {
      waits[i] = 1;
      ready[i] = -1;
      for (const ValueId v : n.inputs) {
        if (const NodeId maker = graph.value(v).node; maker >= 0)
          ready[i] = std::max(ready[i], ready[size_t(maker)]);
        const auto snapshot = snapshot_of.find(v);
        if (snapshot == snapshot_of.end()) continue;
        touched_by_feeders[snapshot->second].push_back(NodeId(i));
        if (n.op->view) snapshot_of.emplace(n.outputs[0], snapshot->second);
      }
      continue;
    }
    if (update || small) {
      at = n.op->stateful ? barrier : -1;
      const std::vector<NodeId> chain = update ? chain_of(graph, n, feeds) : std::vector<NodeId>();
      const auto in_chain = [&](NodeId id) { return std::binary_search(chain.begin(), chain.end(), id); };
      for (const ValueId v : n.inputs) {
        if (const NodeId maker = graph.value(v).node; maker >= 0) at = std::max(at, ready[size_t(maker)]);
        const auto& limits = update ? touched : written;
        if (const auto last = limits.find(v); last != limits.end()) at = std::max(at, last->second);
        if (const auto others = touched_by_feeders.find(v); update && others != touched_by_feeders.end())
          for (const NodeId id : others->second)
            if (!in_chain(id)) at = std::max(at, place[size_t(id)]);
      }
      // Steps that are near gain nothing by coming nearer.
      NodeId last_of_chain = at;
      for (const NodeId id : chain) last_of_chain = std::max(last_of_chain, place[size_t(id)]);
      if (last_of_chain - at <= kNear) at = last_of_chain;
      std::vector<NodeId>& list = behind[at < 0 ? count : size_t(at)];
      for (const NodeId id : chain) {
        if (place[size_t(id)] > at) {
          place[size_t(id)] = at;
          list.push_back(id);
        }
        ready[size_t(id)] = place[size_t(id)];
        for (const ValueId v : graph.node(id).inputs) {
          const auto snapshot = snapshot_of.find(v);
          if (snapshot == snapshot_of.end()) continue;
          raise(touched, snapshot->second, place[size_t(id)]);
          std::erase(touched_by_feeders[snapshot->second], id);
        }
      }
      list.push_back(NodeId(i));
      ready[i] = at;
    } else if (n.op->stateful && effects_of(n).other) {
      barrier = NodeId(i);
    }
    for (const ValueId v : n.inputs) {
      const auto snapshot = snapshot_of.find(v);
      if (snapshot == snapshot_of.end()) continue;
      raise(touched, snapshot->second, at);
      if (n.op->view) snapshot_of.emplace(n.outputs[0], snapshot->second);
    }
    if (n.op->name == "ReadVariableOp") snapshot_of.emplace(n.outputs[0], n.inputs[0]);
    const bool writes = n.op->stateful && effects_of(n).must_run();
    for (const ValueId v : n.inputs) {
      if (graph.value(v).dtype != DType::kResource) continue;
      raise(touched, v, at);
      if (writes) raise(written, v, at);
    }
  }
  std::vector<NodeId> order(behind[count]);
  order.reserve(count);
  std::vector<uint8_t> moved(count, 0);
  for (const auto& list : behind)
    for (const NodeId id : list) moved[size_t(id)] = 1;
  for (size_t i = 0; i < count; ++i) {
    if (!moved[i]) order.push_back(NodeId(i));
    order.insert(order.end(), behind[i].begin(), behind[i].end());
  }
  graph.reorder(order);
  return graph;
}

}  // namespace rw
