#include "rewind/saved/trackable.h"

#include "rewind/base/error.h"

namespace rw::saved {

ObjectGraph::ObjectGraph(const TrackablePtr& root, const std::vector<TrackableChild>& attached,
                         TrackFor purpose) {
  add(root, "");
  for (size_t at = 0; at < nodes_.size(); ++at) {
    std::vector<TrackableChild> children = nodes_[at].object->children(purpose);
    if (at == 0) children.insert(children.end(), attached.begin(), attached.end());
    const std::string path = nodes_[at].path.empty() ? "" : nodes_[at].path + "/";
    for (const TrackableChild& child : children) {
      const size_t node = add(child.object, path + escaped_name(child.name));
      nodes_[at].children.push_back({child.name, node});
    }
  }
  add_slots();
}

size_t ObjectGraph::add(const TrackablePtr& object, std::string path) {
  const auto [it, is_new] = by_id_.emplace(object->id(), nodes_.size());
  if (is_new) nodes_.push_back({.object = object, .path = std::move(path)});
  return it->second;
}

// Slots come last, and only those beside variables that the graph holds.
void ObjectGraph::add_slots() {
  const size_t count = nodes_.size();
  for (size_t at = 0; at < count; ++at)
    for (const TrackableSlot& slot : nodes_[at].object->slots()) {
      const auto beside = by_id_.find(trackable_of(slot.beside)->id());
      if (beside == by_id_.end() || beside->second >= count) continue;
      const std::string path =
          nodes_[beside->second].path + "/.OPTIMIZER_SLOT/" + nodes_[at].path + "/" + escaped_name(slot.name);
      const size_t variable = add(trackable_of(slot.variable), path);
      nodes_[at].slots.push_back({beside->second, slot.name, variable});
    }
}

size_t ObjectGraph::node_of(const ObjectId& id) const {
  const auto it = by_id_.find(id);
  if (it == by_id_.end()) throw InternalError("[saved] an object that is not in the graph was asked for");
  return it->second;
}

std::string escaped_name(const std::string& name) {
  std::string out;
  for (const char c : name) {
    if (c == '.') out += "..";
    else if (c == '/') out += ".S";
    else out += c;
  }
  return out;
}

std::string value_key(const std::string& path, const std::string& value) {
  return path + "/.ATTRIBUTES/" + escaped_name(value);
}

std::string attribute_of(const std::string& value) { return value.substr(0, value.find('-')); }

}  // namespace rw::saved
