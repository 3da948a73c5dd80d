#include <map>
#include <unordered_map>

#include "rewind/compiler/passes/passes.h"
#include "rewind/compiler/rewrite.h"
#include "rewind/graph/bodies.h"

namespace rw {
namespace {

bool is_call(const Node& n) {
  return n.op->name == "PartitionedCall" || n.op->name == "StatefulPartitionedCall";
}

// Branches and loops' bodies without calls: they may become native code as a whole.
BodyRef without_calls(const BodyRef& body) {
  const Graph& graph = graph_of(*body);
  if (!has_calls(graph)) return body;
  return std::make_shared<const Graph>(inline_calls(graph));
}

// Pastes graphs into another, with the bodies of calls in place of the calls.
class Pasting {
 public:
  Pasting(Graph& to, const CalledBody& body_of) : to_(to), body_of_(body_of) {}

  // Nodes of a call in a region lie there. Regions inside of it are that call's own.
  std::vector<ValueId> paste(const Graph& body, std::span<const ValueId> inputs, int32_t region) {
    GraphCopy copy(body, to_);
    for (size_t i = 0; i < inputs.size(); ++i) copy.set(body.arguments[i], inputs[i]);
    std::unordered_map<int32_t, int32_t> inside;
    const auto region_of = [&](const Node& n) {
      if (region == 0 || n.region == 0) return region + n.region;
      const auto [it, fresh] = inside.try_emplace(n.region, next_own_);
      if (fresh) --next_own_;
      return it->second;
    };
    for (size_t i = 0; i < body.nodes().size(); ++i) {
      const Node& n = body.nodes()[i];
      const int32_t here = region_of(n);
      const std::shared_ptr<const Graph> called = is_call(n) ? body_of_(n) : nullptr;
      if (!called) {
        const NodeId made = copy.node(NodeId(i), with_bodies(n.attrs, without_calls));
        to_.node(made).region = here;
        continue;
      }
      std::vector<ValueId> in;
      for (const ValueId v : n.inputs) in.push_back(copy[v]);
      const std::vector<ValueId> out = paste(*called, in, here);
      for (size_t k = 0; k < out.size(); ++k) copy.set(n.outputs[k], out[k]);
    }
    std::vector<ValueId> results;
    for (const ValueId v : body.outputs) results.push_back(copy[v]);
    return results;
  }

 private:
  Graph& to_;
  const CalledBody& body_of_;
  int32_t next_own_ = -1;  // tracing gives positive ones
};

}  // namespace

bool has_calls(const Graph& graph) { return any_node(graph, is_call); }

Graph inline_calls(const Graph& from, const CalledBody& body_of) {
  Graph to;
  to.name = from.name;
  std::vector<ValueId> arguments;
  for (size_t i = 0; i < from.arguments.size(); ++i) {
    const GraphValue& v = from.value(from.arguments[i]);
    arguments.push_back(to.add_argument(v.dtype, v.shape, from.argument_names[i]));
    to.value(arguments.back()).known = v.known;
    to.value(arguments.back()).variable = v.variable;
  }
  to.outputs = Pasting(to, body_of).paste(from, arguments, 0);
  return to;
}

Graph inline_calls(const Graph& from) {
  return inline_calls(from, [](const Node& n) { return graph_attr(n, "f"); });
}

std::set<const FunctionBody*> repeated_bodies(const Graph& graph) {
  std::map<const FunctionBody*, int> calls;
  for (const Node& n : graph.nodes())
    if (is_call(n) && n.region != 0) ++calls[graph_attr(n, "f").get()];
  std::set<const FunctionBody*> repeated;
  for (const auto& [body, count] : calls)
    if (count > 1) repeated.insert(body);
  return repeated;
}

bool has_calls_but(const Graph& graph, const std::set<const FunctionBody*>& some) {
  if (some.empty()) return has_calls(graph);
  for (const Node& n : graph.nodes()) {
    if (is_call(n) && some.contains(graph_attr(n, "f").get())) continue;
    if (is_call(n)) return true;
    bool inside = false;
    for_each_body(n.attrs, [&](const BodyRef& body) { inside = inside || has_calls(graph_of(*body)); });
    if (inside) return true;
  }
  return false;
}

}  // namespace rw
