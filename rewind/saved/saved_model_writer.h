// Puts a SavedModel together: the objects, their functions, and the graph around them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rewind/format/saved_model.h"
#include "rewind/module/tracked_function.h"
#include "rewind/saved/call_signature.h"
#include "rewind/saved/exported_graph.h"
#include "rewind/saved/main_graph.h"
#include "rewind/saved/trackable.h"

namespace rw::saved {

inline constexpr const char* kSaveModel = "saved_model.save";

class SavedModelWriter {
 public:
  // Throws what save() throws.
  SavedModelWriter(const TrackablePtr& root, const std::map<std::string, ConcreteFunction>& signatures);

  const format::SavedModel& model() const { return model_; }
  // What the checkpoint holds: the values of these objects, and its description of all of them.
  const ObjectGraph& objects() const { return *objects_; }
  const format::TrackableObjectGraph& checkpoint_graph() const { return checkpoint_graph_; }

 private:
  // A trace in the file.
  struct Saved {
    ConcreteFunction function;
    CallSignature call;
    GraphPtr body;   // with the arguments of the trace
    GraphPtr graph;  // with those of `call`
    std::string name = {};
    std::vector<int> captures = {};  // object nodes
  };
  // A function of a module.
  struct Traced {
    const FunctionTrackable* object;
    std::string name;
    std::vector<Saved*> traces;
  };

  // ---- saved_functions.cc
  void find_functions(const ObjectGraph& objects);
  Saved* add_function(const ConcreteFunction& f, const std::string& name);
  // A graph that calls the body with arguments and results in another order.
  static GraphPtr reordered(const GraphPtr& body, size_t num_arguments,
                            const std::vector<FlatTensor>& arguments, const std::vector<FlatTensor>& results,
                            const std::string& name);
  std::optional<ConcreteFunction> deduced_signature(const ObjectGraph& objects) const;
  void write_library();
  void add_signature(const std::string& key, const ConcreteFunction& f);
  void write_captures(Saved* f);
  void write_gradient(const ExportedGradient& gradient);
  void write_function(const Traced& traced, int node);
  void write_concrete(const Saved& f);
  int write_bare(const std::string& function, const std::vector<std::string>& keywords,
                 const format::FunctionSpec& spec, const std::vector<int>& captures);
  void write_signature(const std::string& key, const Saved& f, int map_node);

  // ---- saved_model_writer.cc
  std::vector<TrackableChild> captured_variables(const ObjectGraph& objects) const;
  void write_objects();
  void write_object(size_t node);
  int add_node();
  void add_child(int parent, int child, const std::string& name);
  int capture_node(const Tensor& capture, const std::string& function);
  void write_meta();

  format::SavedModel model_;
  format::MetaGraphDef& meta_;
  format::GraphDef& graph_def_;
  format::SavedObjectGraph& object_graph_;
  format::TrackableObjectGraph checkpoint_graph_;
  MainGraph main_;
  std::optional<ObjectGraph> objects_;

  GraphExporter exporter_;
  std::vector<std::unique_ptr<Saved>> functions_;
  std::map<const Graph*, Saved*> by_graph_;  // by the trace's own
  std::map<ObjectId, Traced> traced_;
  std::map<std::string, std::pair<Saved*, GraphPtr>> signatures_;  // with the graph that is served
  std::map<const void*, int> variable_nodes_;                      // objects by what is behind their handles
  std::map<const void*, int> constant_nodes_;                      // of captured tensors
  std::vector<std::string> main_names_;                            // in the main graph, by object node
  std::vector<GraphPort> main_ports_;
};

}  // namespace rw::saved
