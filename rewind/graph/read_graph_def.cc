// GraphDef to Graph.
#include "rewind/base/error.h"
#include "rewind/graph/body_reader.h"
#include "rewind/graph/graph_def.h"
#include "rewind/graph/node_order.h"

namespace rw {
namespace {

using format::GraphDef;
using format::NodeDef;

void add_placeholder(const NodeDef& node, BodyReader* body) {
  const auto dtype_attr = node.attr.find("dtype");
  const auto* type =
      dtype_attr == node.attr.end() ? nullptr : std::get_if<format::DataType>(&dtype_attr->second.value);
  if (!type || to_dtype(*type) == DType::kInvalid)
    fail_graph_def("node " + quote(node.name) + " has no dtype that is known");
  body->add_argument(node.name, to_dtype(*type), placeholder_facts(node.attr));
}

// Values of nodes that no other node takes a value from, in the order of the file.
std::vector<std::string> default_outputs(const GraphDef& def) {
  std::unordered_set<std::string_view> taken;
  for (const NodeDef& node : def.node)
    for (const std::string& input : node.input)
      if (const InputRef ref = parse_input(input); !ref.control) taken.insert(ref.node);
  std::vector<std::string> names;
  for (const NodeDef& node : def.node)
    if (node.op != "Placeholder" && !taken.count(node.name)) names.push_back(node.name);
  return names;
}

}  // namespace

std::shared_ptr<Graph> from_graph_def(const format::GraphDef& def, const GraphDefImport& options) {
  static const auto& kNone = *new format::FunctionDefLibrary;
  FunctionLibraryReader library(def.library ? *def.library : kNone, options.max_constant_bytes);
  auto graph = std::make_shared<Graph>();
  BodyReader body(graph.get(), false, &library);

  std::vector<const NodeDef*> nodes;
  std::unordered_map<std::string_view, const NodeDef*> placeholders;
  for (const NodeDef& node : def.node) {
    nodes.push_back(&node);
    if (node.op == "Placeholder") placeholders[node.name] = &node;
  }
  static const auto& kNoArguments = *new std::unordered_set<std::string>;
  NodeOrder node_order(nodes, kNoArguments);
  const std::vector<std::string> outputs =
      options.outputs.empty() && !options.prune ? default_outputs(def) : options.outputs;
  std::vector<bool> wanted(nodes.size(), true);
  if (options.prune) {
    std::vector<std::string_view> roots;
    for (const std::string& name : outputs) roots.push_back(parse_input(name).node);
    for (const std::string& name : options.targets) roots.push_back(parse_input(name).node);
    wanted = node_order.reach(roots);
  }

  std::unordered_set<std::string_view> added;
  const auto add_argument = [&](const NodeDef& node) {
    if (added.insert(node.name).second) add_placeholder(node, &body);
  };
  for (const std::string& name : options.inputs) {
    const auto it = placeholders.find(parse_input(name).node);
    if (it == placeholders.end()) fail_not_found("GraphDef", "there is no Placeholder " + quote(name));
    add_argument(*it->second);
  }
  for (size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i]->op == "Placeholder" && wanted[i]) add_argument(*nodes[i]);
  for (const size_t i : node_order.find())
    if (nodes[i]->op != "Placeholder" && wanted[i]) body.add(*nodes[i]);

  for (const std::string& name : outputs) {
    if (options.outputs.empty())
      for (const ValueId v : body.values(name)) graph->outputs.push_back(v);
    else graph->outputs.push_back(body.value(name));
  }
  return graph;
}

}  // namespace rw
