// SavedModels of TensorFlow 1 have no objects: their variables and signatures, put together as one.
#include <algorithm>
#include <set>

#include "rewind/base/error.h"
#include "rewind/graph/attr_proto.h"
#include "rewind/graph/tensor_proto.h"
#include "rewind/saved/call_signature.h"
#include "rewind/saved/loaded_state.h"
#include "rewind/saved/loaded_structure.h"
#include "rewind/saved/main_graph.h"

namespace rw::saved_model {
namespace {

using format::SavedObject;
using format::TensorInfo;

const std::string& tensor_of(const std::string& signature, const std::string& name, const TensorInfo& info) {
  const auto* tensor = std::get_if<std::string>(&info.encoding);
  if (!tensor)
    fail_unimplemented(kLoad, "signature " + signature + ": " + name + " is a sparse or composite tensor");
  return *tensor;
}

Shape shape_of(const TensorInfo& info) {
  return info.tensor_shape ? from_shape_proto(*info.tensor_shape) : Shape::unknown_rank();
}

// A VariableDef begins with the variable's name, "w:0".
std::string name_in_variable_def(const std::string& bytes) {
  if (bytes.size() < 2 || bytes[0] != '\x0a' || bytes[1] < 0 || bytes.size() < 2 + size_t(bytes[1]))
    return {};
  const std::string name = bytes.substr(2, size_t(bytes[1]));
  return name.substr(0, name.find(':'));
}

std::set<std::string> trainable_names(const format::MetaGraphDef& graph) {
  std::set<std::string> names;
  const auto it = graph.collection_def.find("trainable_variables");
  if (it == graph.collection_def.end()) return names;
  if (const auto* list = std::get_if<format::CollectionDef::BytesList>(&it->second.kind))
    for (const std::string& bytes : list->value) names.insert(name_in_variable_def(bytes));
  return names;
}

SavedObject user_object(const char* identifier) {
  SavedObject object;
  object.kind = format::SavedUserObject{.identifier = identifier};
  return object;
}

SavedObject variable_object(const format::NodeDef& node, bool trainable) {
  format::SavedVariable variable{.trainable = trainable, .name = variable_name(node)};
  if (const auto it = node.attr.find("dtype"); it != node.attr.end())
    if (const auto* type = std::get_if<format::DataType>(&it->second.value)) variable.dtype = *type;
  if (const auto it = node.attr.find("shape"); it != node.attr.end())
    if (const auto* shape = std::get_if<format::TensorShapeProto>(&it->second.value)) variable.shape = *shape;
  SavedObject object;
  object.kind = std::move(variable);
  return object;
}

}  // namespace

void LoadedState::add_session_objects(size_t file_size) {
  // Each signature takes its part of the graph, and a copy of the functions.
  constexpr size_t kCopied = size_t{4} << 30;
  if (graph_.signature_def.size() > kCopied / std::max<size_t>(file_size, 1))
    fail_exhausted(kLoad, dir_ + "/saved_model.pb: " + std::to_string(graph_.signature_def.size()) +
                              " signatures of a graph of " + std::to_string(file_size) + " bytes");
  static const auto& kNoGraph = *new format::GraphDef;
  const format::GraphDef& graph = graph_.graph_def ? *graph_.graph_def : kNoGraph;
  format::SavedObjectGraph& objects = graph_.object_graph_def.emplace();
  objects.nodes.push_back(user_object("_generic_user_object"));
  objects.nodes.push_back(user_object("signature_map"));
  objects.nodes[0].children.push_back({1, "signatures"});
  std::map<std::string, const format::NodeDef*> handles;
  for (const auto& [key, signature] : graph_.signature_def) {
    if (key.starts_with("__")) continue;  // initialization
    std::vector<SessionInput> inputs;
    std::vector<std::string> outputs;
    format::StructuredDict in, out;
    for (const auto& [name, info] : signature.inputs) {
      format::AttrMap placeholder;
      placeholder["dtype"] = saved::attr_of(to_dtype(info.dtype));
      placeholder["shape"] = saved::attr_of(shape_of(info));
      inputs.push_back({tensor_of(key, name, info), std::move(placeholder)});
      in.fields[name] = saved::tensor_spec_value(name, to_dtype(info.dtype), shape_of(info));
    }
    for (const auto& [name, info] : signature.outputs) {
      outputs.push_back(tensor_of(key, name, info));
      out.fields[name] = saved::tensor_spec_value(name, to_dtype(info.dtype), shape_of(info));
    }
    const std::string name = "signature_wrapper_" + key;
    const SessionFunction& function = sessions_[name] = session_function(graph, inputs, std::move(outputs));
    std::vector<const format::NodeDef*> nodes;
    for (const format::NodeDef& node : function.graph.node)
      if (node.op != "Placeholder") nodes.push_back(&node);
    check_.note(name, nodes);
    for (const format::NodeDef* node : variable_nodes(function)) handles.emplace(variable_name(*node), node);
    objects.concrete_functions[name] = {.canonicalized_input_signature = saved::call_value({}, std::move(in)),
                                        .output_signature = saved::dict_value(std::move(out))};
    objects.nodes[1].children.push_back({int32_t(objects.nodes.size()), key});
    objects.nodes.emplace_back().kind = format::SavedBareConcreteFunction{.concrete_function_name = name};
  }
  const std::set<std::string> trainable = trainable_names(graph_);
  for (const auto& [name, node] : handles) {
    objects.nodes[0].children.push_back({int32_t(objects.nodes.size()), name});
    objects.nodes.push_back(variable_object(*node, trainable.contains(node->name)));
  }
}

std::shared_ptr<const ConcreteFunction> LoadedState::build_session(const std::string& name,
                                                                   const SessionFunction& function) const {
  const auto variable_called = [&](const std::string& wanted) { return variable(child(0, wanted)); };
  const SavedTrace& saved = trace(name);
  return build_session_function(
      function, name, variable_called, constant_bytes_, options_.memory_budget,
      call_structure(saved.inputs, saved.outputs, function.inputs.size(), function.outputs.size()));
}

}  // namespace rw::saved_model
