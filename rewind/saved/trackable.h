// The graph of all objects below one, as TensorFlow walks it: breadth first, each object once, numbered in
// the order in which it is found; every node has the path that led to it first, from which its values' keys
// follow.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "rewind/module/module.h"
#include "rewind/module/trackable.h"

namespace rw::saved {

struct ObjectNode {
  struct Child {
    std::string name;
    size_t node = 0;
  };
  struct Slot {
    size_t beside = 0;  // node of the variable that it stands beside
    std::string name;
    size_t variable = 0;  // node of the slot's own
  };
  TrackablePtr object;
  std::string path;  // "model/layers/0": names are escaped; empty: the root
  std::vector<Child> children;
  std::vector<Slot> slots;
};

class ObjectGraph {
 public:
  // `attached`: further children of the root.
  explicit ObjectGraph(const TrackablePtr& root, const std::vector<TrackableChild>& attached = {},
                       TrackFor purpose = TrackFor::kCheckpoint);

  const std::vector<ObjectNode>& nodes() const { return nodes_; }
  // Throws InternalError for an object that is not in the graph.
  size_t node_of(const ObjectId& id) const;
  bool contains(const ObjectId& id) const { return by_id_.contains(id); }

 private:
  size_t add(const TrackablePtr& object, std::string path);
  void add_slots();
  std::vector<ObjectNode> nodes_;
  std::map<ObjectId, size_t> by_id_;
};

// "a/b" as one name of a path: "a.Sb".
std::string escaped_name(const std::string& name);
// The key of a value in a checkpoint: "model/w/.ATTRIBUTES/VARIABLE_VALUE".
std::string value_key(const std::string& path, const std::string& value);
// An attribute may have several values: those of tables are "table-keys" and "table-values" of "table", as
// TensorFlow writes them. The object graph lists the attribute, the tensors have the values' keys.
std::string attribute_of(const std::string& value);

}  // namespace rw::saved
