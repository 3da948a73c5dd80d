// What a checkpoint will hold: the values of all objects below a root, taken at one moment, and the graph of
// the objects. The values share memory with the variables until these are assigned, so that a snapshot costs
// nothing and can be written while training goes on.
#pragma once

#include <string>
#include <vector>

#include "rewind/format/bundle_writer.h"
#include "rewind/format/object_graph.h"
#include "rewind/saved/trackable.h"
#include "rewind/tensor/tensor.h"

namespace rw::saved {

// The key of the object graph, a scalar string.
inline constexpr const char* kObjectGraphKey = "_CHECKPOINTABLE_OBJECT_GRAPH";

struct Snapshot {
  struct Value {
    std::string key;
    Tensor value;
  };
  std::vector<Value> values;  // with the object graph
};

// The graph as files hold it, with the keys of values.
format::TrackableObjectGraph object_graph_proto(const ObjectGraph& graph);
// `tag` is the function that the user called, for messages.
Snapshot take_snapshot(const ObjectGraph& graph, const char* tag);
// Writes the files; makes folders that are missing.
void write_snapshot(const std::string& prefix, const Snapshot& snapshot, const char* tag,
                    const format::BundleWriteOptions& options);

}  // namespace rw::saved
