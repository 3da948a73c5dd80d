#include "rewind/saved/session_graph.h"

#include <map>

#include "rewind/base/error.h"
#include "rewind/compiler/rewrite.h"
#include "rewind/graph/graph_def.h"
#include "rewind/graph/node_order.h"

namespace rw::saved_model {
namespace {

using format::NodeDef;

constexpr const char* kTag = "saved_model::load";

const std::unordered_set<std::string>& no_arguments() {
  static const auto& none = *new std::unordered_set<std::string>;
  return none;
}

void feed(NodeDef* node, const SessionInput& input) {
  if (parse_input(input.tensor).index != 0)
    fail_unimplemented(kTag, "the input " + quote(input.tensor) + " is not the first output of its node");
  if (!input.placeholder.empty()) node->attr = input.placeholder;
  else if (node->op != "Placeholder" && node->op != "PlaceholderWithDefault")
    fail_invalid(kTag,
                 "an input must be a Placeholder: " + quote(input.tensor) + " is a node of op " + node->op);
  node->op = "Placeholder";
  node->input.clear();
}

// One that nobody feeds gives its default.
void use_default(NodeDef* node) {
  node->op = "Identity";
  node->attr["T"] = node->attr["dtype"];
  node->attr.erase("dtype");
  node->attr.erase("shape");
}

}  // namespace

SessionFunction session_function(const format::GraphDef& graph, const std::vector<SessionInput>& inputs,
                                 std::vector<std::string> outputs) {
  std::vector<NodeDef> all = graph.node;
  std::map<std::string_view, NodeDef*> by_name;
  for (NodeDef& node : all) by_name.emplace(node.name, &node);
  SessionFunction function;
  std::vector<std::string_view> roots;
  const auto find = [&](const std::string& tensor) {
    const auto it = by_name.find(parse_input(tensor).node);
    if (it == by_name.end()) fail_not_found(kTag, "the graph has no node for " + quote(tensor));
    roots.push_back(it->first);
    return it->second;
  };
  for (const SessionInput& input : inputs) {
    feed(find(input.tensor), input);
    function.inputs.push_back(input.tensor);
  }
  for (NodeDef& node : all)
    if (node.op == "PlaceholderWithDefault") use_default(&node);
  for (const std::string& output : outputs) find(output);
  function.outputs = std::move(outputs);

  std::vector<const NodeDef*> nodes;
  for (const NodeDef& node : all) nodes.push_back(&node);
  const std::vector<bool> needed = NodeOrder(nodes, no_arguments()).reach(roots);
  for (size_t i = 0; i < all.size(); ++i)
    if (needed[i]) function.graph.node.push_back(std::move(all[i]));
  function.graph.library = graph.library;
  return function;
}

std::string variable_name(const NodeDef& node) {
  const auto it = node.attr.find("shared_name");
  const auto* shared = it == node.attr.end() ? nullptr : std::get_if<std::string>(&it->second.value);
  return shared && !shared->empty() ? *shared : node.name;
}

std::vector<const NodeDef*> variable_nodes(const SessionFunction& function) {
  std::vector<const NodeDef*> nodes;
  for (const NodeDef& node : function.graph.node)
    if (node.op == "VarHandleOp") nodes.push_back(&node);
  return nodes;
}

std::shared_ptr<const ConcreteFunction> build_session_function(
    const SessionFunction& function, const std::string& name, const VariableByName& variable,
    int64_t max_constant_bytes, int64_t memory_budget, CallStructure structure) {
  const auto graph = from_graph_def(
      function.graph,
      {.inputs = function.inputs, .outputs = function.outputs, .max_constant_bytes = max_constant_bytes});
  if (graph->arguments.size() > function.inputs.size())
    fail_invalid(kTag, name + ": the results also need a value for the Placeholder " +
                           quote(graph->argument_names[function.inputs.size()]) + ", which is no input");
  std::map<std::string, std::string> names;  // by the node
  for (const NodeDef* node : variable_nodes(function)) names.emplace(node->name, variable_name(*node));
  std::map<std::string, ValueId> handles;
  std::vector<Tensor> captures;
  std::vector<Variable> variables;
  auto whole = std::make_shared<Graph>(rewrite(*graph, [&](NodeId id, GraphCopy& copy, Graph& to) {
    const Node& n = graph->node(id);
    if (n.op->name != "VarHandleOp") {
      copy.node(id);
      return;
    }
    const std::string& of = names.at(n.name);
    const auto [it, is_new] = handles.try_emplace(of, -1);
    if (is_new) {
      const Variable v = variable(of);
      it->second = to.add_argument(DType::kResource, Shape{}, of);
      to.value(it->second).variable = std::make_shared<VariableSpec>(VariableSpec{v.dtype(), v.shape()});
      captures.push_back(v.handle());
      variables.push_back(v);
    }
    copy.set(n.outputs[0], it->second);
  }));
  whole->name = name;
  return std::make_shared<const ConcreteFunction>(std::move(whole), function.inputs.size(),
                                                  std::move(captures), std::move(variables), memory_budget,
                                                  std::move(structure));
}

}  // namespace rw::saved_model
