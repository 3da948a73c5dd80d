// Makes a failing graph small: see random_graph.h.
#include <optional>

#include "rewind/base/error.h"
#include "rewind/graph/copy.h"
#include "tests/support/graph_examples.h"
#include "tests/support/random_graph.h"

namespace rw::test {
namespace {

bool is_data(const GraphValue& v) { return !is_host_only(v.dtype); }

// What every value is when the graph runs; nothing where running all nodes fails.
std::vector<std::optional<HostTensor>> all_values(const GraphCase& c) {
  Graph all = *c.graph;
  all.outputs.clear();
  for (size_t i = 0; i < all.num_values(); ++i)
    if (is_data(all.value(ValueId(i)))) all.outputs.push_back(ValueId(i));
  std::vector<std::optional<HostTensor>> values(all.num_values());
  try {
    const std::vector<HostTensor> results = run_graph(all, c.feeds);
    for (size_t i = 0; i < all.outputs.size(); ++i) values[size_t(all.outputs[i])] = results[i];
  } catch (const Error&) {}
  return values;
}

// The case without a node; what others use of it becomes arguments. None when those are not known.
std::optional<GraphCase> without_node(const GraphCase& c, NodeId dropped,
                                      const std::vector<std::optional<HostTensor>>& values) {
  const Graph& from = *c.graph;
  std::vector<bool> used(from.num_values(), false);
  for (const Node& n : from.nodes())
    for (const ValueId v : n.inputs) used[size_t(v)] = true;
  for (const ValueId v : from.outputs) used[size_t(v)] = true;
  auto to = std::make_shared<Graph>();
  to->name = from.name;
  GraphCase out{to, c.feeds};
  GraphCopy copy(from, *to);
  copy.arguments();
  for (const ValueId v : from.node(dropped).outputs) {
    if (!used[size_t(v)]) continue;
    if (!values[size_t(v)]) return std::nullopt;
    copy.argument(v);
    out.feeds.push_back(*values[size_t(v)]);
  }
  for (size_t i = 0; i < from.nodes().size(); ++i)
    if (NodeId(i) != dropped) copy.node(NodeId(i));
  copy.outputs();
  return out;
}

}  // namespace

GraphCase shrink(GraphCase c, const std::function<bool(const GraphCase&)>& fails) {
  for (size_t i = c.graph->outputs.size(); i-- > 0;) {
    auto fewer = std::make_shared<Graph>(*c.graph);
    fewer->outputs.erase(fewer->outputs.begin() + ptrdiff_t(i));
    const GraphCase smaller{fewer, c.feeds};
    if (fails(smaller)) c = smaller;
  }
  for (bool smaller = true; smaller;) {
    smaller = false;
    const auto values = all_values(c);
    for (size_t i = c.graph->nodes().size(); i-- > 0 && !smaller;) {
      const std::optional<GraphCase> less = without_node(c, NodeId(i), values);
      if (!less || !fails(*less)) continue;
      c = *less;
      smaller = true;
    }
  }
  return c;
}

}  // namespace rw::test
