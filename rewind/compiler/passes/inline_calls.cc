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

void paste(const Graph& body, std::span<const ValueId> inputs, Graph& to, std::vector<ValueId>* results) {
  GraphCopy copy(body, to);
  for (size_t i = 0; i < inputs.size(); ++i) copy.set(body.arguments[i], inputs[i]);
  for (size_t i = 0; i < body.nodes().size(); ++i) {
    const Node& n = body.nodes()[i];
    if (!is_call(n)) {
      copy.node(NodeId(i), with_bodies(n.attrs, without_calls));
      continue;
    }
    std::vector<ValueId> in, out;
    for (const ValueId v : n.inputs) in.push_back(copy[v]);
    paste(*graph_attr(n, "f"), in, to, &out);
    for (size_t k = 0; k < out.size(); ++k) copy.set(n.outputs[k], out[k]);
  }
  for (const ValueId v : body.outputs) results->push_back(copy[v]);
}

}  // namespace

bool has_calls(const Graph& graph) { return any_node(graph, is_call); }

Graph inline_calls(const Graph& from) {
  Graph to;
  to.name = from.name;
  std::vector<ValueId> arguments;
  for (size_t i = 0; i < from.arguments.size(); ++i) {
    const GraphValue& v = from.value(from.arguments[i]);
    arguments.push_back(to.add_argument(v.dtype, v.shape, from.argument_names[i]));
    to.value(arguments.back()).known = v.known;
    to.value(arguments.back()).variable = v.variable;
  }
  paste(from, arguments, to, &to.outputs);
  return to;
}

}  // namespace rw
