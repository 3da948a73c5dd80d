// rw::saved_model::load_graph: a GraphDef in a file as a function.
#include <algorithm>
#include <filesystem>
#include <unordered_set>

#include "rewind/base/error_context.h"
#include "rewind/format/message.h"
#include "rewind/format/read_file.h"
#include "rewind/function/function_origin.h"
#include "rewind/graph/node_order.h"
#include "rewind/saved/loaded_model.h"
#include "rewind/saved/op_check.h"
#include "rewind/saved/session_graph.h"

namespace rw::saved_model {
namespace {

constexpr const char* kTag = "saved_model::load_graph";

format::GraphDef read_graph(const std::string& path, size_t* size) {
  const format::ReadFile file(path, kTag);
  const std::string bytes = file.read(0, size_t(file.size()));
  *size = bytes.size();
  try {
    return path.ends_with(".pbtxt") || path.ends_with(".txt") ? format::from_text<format::GraphDef>(bytes)
                                                              : format::decode<format::GraphDef>(bytes);
  } catch (const Error& e) {
    throw DataLossError(std::string("[") + kTag + "] " + path + " is no GraphDef: " + e.what());
  }
}

std::vector<std::string> placeholders(const format::GraphDef& graph) {
  std::vector<std::string> names;
  for (const format::NodeDef& node : graph.node)
    if (node.op == "Placeholder") names.push_back(node.name);
  return names;
}

std::vector<std::string> last_values(const format::GraphDef& graph) {
  std::unordered_set<std::string_view> taken;
  for (const format::NodeDef& node : graph.node)
    for (const std::string& input : node.input) taken.insert(parse_input(input).node);
  std::vector<std::string> names;
  for (const format::NodeDef& node : graph.node)
    if (!taken.contains(node.name) && node.op != "Placeholder" && node.op != "NoOp")
      names.push_back(node.name);
  return names;
}

void check_ops(const format::GraphDef& all, const SessionFunction& function, const GraphOptions& options,
               const std::string& path) {
  static const auto& kNoLibrary = *new format::FunctionDefLibrary;
  OpCheck check(all.library ? *all.library : kNoLibrary, options.allowed_ops);
  std::vector<const format::NodeDef*> nodes;
  for (const format::NodeDef& node : function.graph.node)
    if (node.op != "Placeholder") nodes.push_back(&node);
  const OpCheck::Problems problems = check.of_nodes(nodes);
  for (const std::string& op : problems.missing) fail_unimplemented(kTag, path + ": " + missing_op_text(op));
  for (const std::string& op : problems.refused)
    fail_unimplemented(
        kTag, path + ": a loaded graph may not use " + op + "; GraphOptions::allowed_ops allows it by name");
}

}  // namespace

static std::shared_ptr<const ConcreteFunction> build_graph(const format::GraphDef& graph, size_t size,
                                                           const std::string& path,
                                                           const GraphOptions& options) {
  std::vector<SessionInput> inputs;
  for (const std::string& name : options.inputs.empty() ? placeholders(graph) : options.inputs)
    inputs.push_back({name, {}});
  const SessionFunction function =
      session_function(graph, inputs, options.outputs.empty() ? last_values(graph) : options.outputs);
  check_ops(graph, function, options, path);
  const auto no_variables = [&](const std::string& name) -> Variable {
    fail_invalid(kTag, path + ": variable '" + name +
                           "' has no value in a GraphDef; freeze the graph, or save a "
                           "SavedModel");
  };
  constexpr int64_t kConstantBytes = int64_t{1} << 28;
  return build_session_function(function, std::filesystem::path(path).stem().string(), no_variables,
                                std::max(int64_t(size), kConstantBytes), options.memory_budget, {});
}

std::shared_ptr<const ConcreteFunction> load_graph(const std::string& path, const GraphOptions& options) {
  size_t size = 0;
  const format::GraphDef graph = read_graph(path, &size);
  auto function = naming_file(path, std::string("[") + kTag + "] " + path + ": ",
                              [&] { return build_graph(graph, size, path, options); });
  set_origin(*function, "the graph of " + path);
  return function;
}

}  // namespace rw::saved_model
