#include "rewind/saved/snapshot.h"

#include <filesystem>

#include "rewind/base/error.h"
#include "rewind/format/message.h"
#include "rewind/saved/tensor_values.h"
#include "rewind/tensor/trace.h"

namespace rw::saved {
namespace {

// Marks the objects that have values and those from which one of them can be reached.
void mark_values(format::TrackableObjectGraph* graph) {
  std::vector<std::vector<size_t>> parents(graph->nodes.size());
  std::vector<size_t> queue;
  std::vector<bool> has(graph->nodes.size());
  for (size_t i = 0; i < graph->nodes.size(); ++i) {
    const auto& node = graph->nodes[i];
    for (const auto& child : node.children) parents[size_t(child.node_id)].push_back(i);
    has[i] = !node.attributes.empty() || !node.slot_variables.empty();
    if (has[i]) queue.push_back(i);
  }
  for (size_t at = 0; at < queue.size(); ++at)
    for (const size_t parent : parents[queue[at]])
      if (!has[parent]) {
        has[parent] = true;
        queue.push_back(parent);
      }
  for (size_t i = 0; i < has.size(); ++i) graph->nodes[i].has_checkpoint_values = format::BoolValue{has[i]};
}

}  // namespace

format::TrackableObjectGraph object_graph_proto(const ObjectGraph& graph) {
  format::TrackableObjectGraph proto;
  for (const ObjectNode& node : graph.nodes()) {
    auto& out = proto.nodes.emplace_back();
    for (const auto& child : node.children)
      out.children.push_back({.node_id = int32_t(child.node), .local_name = child.name});
    for (const TrackableValue& v : node.object->values()) {
      const std::string name = attribute_of(v.name);
      if (!out.attributes.empty() && out.attributes.back().name == name) continue;
      out.attributes.push_back(
          {.name = name, .full_name = v.full_name, .checkpoint_key = value_key(node.path, name)});
    }
    for (const auto& slot : node.slots)
      out.slot_variables.push_back({.original_variable_node_id = int32_t(slot.beside),
                                    .slot_name = slot.name,
                                    .slot_variable_node_id = int32_t(slot.variable)});
  }
  mark_values(&proto);
  return proto;
}

Snapshot take_snapshot(const ObjectGraph& graph, const char* tag) {
  if (current_trace()) fail_precondition(tag, "checkpoints are saved outside of functions");
  Snapshot snapshot;
  for (const ObjectNode& node : graph.nodes())
    for (const TrackableValue& v : node.object->values())
      snapshot.values.push_back(
          {value_key(node.path, v.name), v.variable.defined() ? v.variable.value() : v.save()});
  snapshot.values.push_back({kObjectGraphKey, constant(format::encode(object_graph_proto(graph)))});
  return snapshot;
}

void write_snapshot(const std::string& prefix, const Snapshot& snapshot, const char* tag,
                    const format::BundleWriteOptions& options) {
  std::error_code error;
  if (const auto folder = std::filesystem::path(prefix).parent_path(); !folder.empty())
    std::filesystem::create_directories(folder, error);  // the files' own error says what is wrong
  std::vector<format::BundleTensor> tensors;
  tensors.reserve(snapshot.values.size());
  for (const Snapshot::Value& v : snapshot.values) tensors.push_back(to_bundle(v.key, v.value, tag));
  format::write_bundle(prefix, std::move(tensors), tag, options);
}

}  // namespace rw::saved
