// The graph of objects that a checkpoint holds, under the key _CHECKPOINTABLE_OBJECT_GRAPH:
//
//   TrackableObjectGraph  1 nodes: TrackableObject; node 0 is the root
//   TrackableObject       1 children: {1 node_id, 2 local_name}
//                         2 attributes: {1 name, 2 full_name, 3 checkpoint_key}
//                         3 slot_variables: {1 original_variable_node_id, 2 slot_name, 3
//                         slot_variable_node_id} 4 registered_saver: {1 name, 2 object_name} 5
//                         has_checkpoint_values: {1 value}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rewind/format/message.h"

namespace rw::format {

struct BoolValue {
  bool value = false;
};

struct RegisteredSaver {
  std::string name, object_name;
};

struct TrackableObjectGraph {
  struct ObjectReference {
    int32_t node_id = 0;
    std::string local_name;
  };
  struct SerializedTensor {
    std::string name, full_name, checkpoint_key;
  };
  struct SlotVariableReference {
    int32_t original_variable_node_id = 0;
    std::string slot_name;
    int32_t slot_variable_node_id = 0;
  };
  struct TrackableObject {
    std::vector<ObjectReference> children;
    std::vector<SerializedTensor> attributes;
    std::vector<SlotVariableReference> slot_variables;
    std::optional<RegisteredSaver> registered_saver;
    std::optional<BoolValue> has_checkpoint_values;
  };
  std::vector<TrackableObject> nodes;
};

}  // namespace rw::format
