#include "cli/saved_model_facts.h"

#include <filesystem>

#include "rewind/base/error.h"
#include "rewind/format/message.h"
#include "rewind/format/read_file.h"
#include "rewind/format/saved_model.h"

namespace rw::cli {
namespace {

format::SavedModel read_model(const std::string& folder) {
  const bool text = !std::filesystem::exists(folder + "/saved_model.pb") &&
                    std::filesystem::exists(folder + "/saved_model.pbtxt");
  const std::string path = folder + (text ? "/saved_model.pbtxt" : "/saved_model.pb");
  const format::ReadFile file(path, "saved_model");
  const std::string bytes = file.read(0, size_t(file.size()));
  try {
    return text ? format::from_text<format::SavedModel>(bytes) : format::decode<format::SavedModel>(bytes);
  } catch (const Error& e) {
    throw DataLossError("[saved_model] " + path + " is no SavedModel: " + e.what());
  }
}

void add_tensors(const std::map<std::string, format::TensorInfo>& from,
                 std::map<std::string, std::string>* to) {
  for (const auto& [name, info] : from)
    if (const auto* tensor = std::get_if<std::string>(&info.encoding)) (*to)[name] = *tensor;
}

}  // namespace

std::vector<MetaGraphFacts> read_saved_model_facts(const std::string& folder) {
  std::vector<MetaGraphFacts> all;
  for (const format::MetaGraphDef& graph : read_model(folder).meta_graphs) {
    MetaGraphFacts facts;
    if (graph.meta_info_def) facts.tags = graph.meta_info_def->tags;
    if (graph.graph_def) {
      for (const auto& node : graph.graph_def->node) facts.ops.insert(node.op);
      if (graph.graph_def->library)
        for (const auto& function : graph.graph_def->library->function)
          for (const auto& node : function.node_def) facts.ops.insert(node.op);
    }
    for (const auto& [name, signature] : graph.signature_def) {
      SignatureFacts& to = facts.signatures[name];
      to.method = signature.method_name;
      add_tensors(signature.inputs, &to.inputs);
      add_tensors(signature.outputs, &to.outputs);
    }
    all.push_back(std::move(facts));
  }
  return all;
}

}  // namespace rw::cli
