#include "rewind/graph/extend.h"

#include "rewind/base/error.h"

namespace rw {
namespace {

// The nodes behind `id` that the values need, in order.
std::vector<NodeId> makers_behind(const Graph& g, NodeId id, const std::vector<ValueId>& values) {
  std::vector<uint8_t> needed(g.nodes().size(), 0);
  auto need = [&](ValueId v) {
    const NodeId n = g.value(v).node;
    if (n < id) return;
    RW_CHECK(n != id);
    needed[size_t(n)] = 1;
  };
  for (const ValueId v : values) need(v);
  for (size_t i = g.nodes().size(); i-- > size_t(id) + 1;) {
    if (!needed[i]) continue;
    RW_CHECK(!g.nodes()[i].op->stateful);
    for (const ValueId v : g.nodes()[i].inputs) need(v);
  }
  std::vector<NodeId> list;
  for (size_t i = 0; i < needed.size(); ++i)
    if (needed[i]) list.push_back(NodeId(i));
  return list;
}

}  // namespace

std::vector<ValueId> extend_node(Graph& g, NodeId id, const NodeExtension& e, std::span<size_t> marks) {
  const std::vector<NodeId> moved = makers_behind(g, id, e.inputs);
  NodeId now = id;
  if (!moved.empty()) {
    std::vector<uint8_t> moves(g.nodes().size(), 0);
    for (const NodeId m : moved) moves[size_t(m)] = 1;
    std::vector<NodeId> order;
    for (NodeId i = 0; i < NodeId(g.nodes().size()); ++i) {
      if (i == id) {
        order.insert(order.end(), moved.begin(), moved.end());
        now = NodeId(order.size());
      }
      if (!moves[size_t(i)]) order.push_back(i);
    }
    for (size_t& mark : marks) {
      if (mark <= size_t(id)) continue;
      size_t over = 0;
      for (const NodeId m : moved) over += size_t(m) >= mark;
      mark += over;
    }
    g.reorder(order);
  }
  Node& node = g.node(now);
  node.op = e.op;
  node.attrs = e.attrs;
  for (const ValueId v : e.inputs) node.inputs.push_back(v);
  std::vector<ValueId> outputs;
  for (size_t i = 0; i < e.dtypes.size(); ++i) outputs.push_back(g.add_output(now, e.dtypes[i], e.shapes[i]));
  return outputs;
}

}  // namespace rw
