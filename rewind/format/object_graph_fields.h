// The fields of the messages in object_graph.h (see graph_def_fields.h).
#pragma once

#include "rewind/format/graph_def_fields.h"
#include "rewind/format/object_graph.h"

namespace rw::format {

template <class V, MessageOf<BoolValue> M>
void fields(V& v, M& m) {
  v.field(1, "value", m.value);
}

template <class V, MessageOf<RegisteredSaver> M>
void fields(V& v, M& m) {
  v.field(1, "name", m.name);
  v.field(2, "object_name", m.object_name);
}

template <class V, MessageOf<TrackableObjectGraph::ObjectReference> M>
void fields(V& v, M& m) {
  v.field(1, "node_id", m.node_id);
  v.field(2, "local_name", m.local_name);
}

template <class V, MessageOf<TrackableObjectGraph::SerializedTensor> M>
void fields(V& v, M& m) {
  v.field(1, "name", m.name);
  v.field(2, "full_name", m.full_name);
  v.field(3, "checkpoint_key", m.checkpoint_key);
}

template <class V, MessageOf<TrackableObjectGraph::SlotVariableReference> M>
void fields(V& v, M& m) {
  v.field(1, "original_variable_node_id", m.original_variable_node_id);
  v.field(2, "slot_name", m.slot_name);
  v.field(3, "slot_variable_node_id", m.slot_variable_node_id);
}

template <class V, MessageOf<TrackableObjectGraph::TrackableObject> M>
void fields(V& v, M& m) {
  v.field(1, "children", m.children);
  v.field(2, "attributes", m.attributes);
  v.field(3, "slot_variables", m.slot_variables);
  v.field(4, "registered_saver", m.registered_saver);
  v.field(5, "has_checkpoint_values", m.has_checkpoint_values);
}

template <class V, MessageOf<TrackableObjectGraph> M>
void fields(V& v, M& m) {
  v.field(1, "nodes", m.nodes);
}

}  // namespace rw::format
