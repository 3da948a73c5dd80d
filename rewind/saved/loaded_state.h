// What all objects of one loaded SavedModel share: its object graph, variables, constants, and functions,
// which become graphs when they are first used.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "rewind/format/saved_model.h"
#include "rewind/format/tensor_bundle.h"
#include "rewind/graph/graph_def.h"
#include "rewind/saved/call_binding.h"
#include "rewind/saved/loaded_model.h"
#include "rewind/saved/op_check.h"
#include "rewind/saved/session_graph.h"

namespace rw::saved_model {

// The function that the user called, for messages.
inline constexpr const char* kLoad = "saved_model::load";

struct SignatureFunction::Core {
  std::string name;      // of the signature
  std::string function;  // in the library
  std::string called;    // for errors: "signature serving_default", with the model's folder in `tag`
  std::string tag;
  std::map<std::string, TensorSpec> inputs, outputs;
  std::vector<std::string> input_order, output_order;  // names by position in the function
  std::map<std::string, Tensor> defaults;
};

struct LoadedFunction::Core {
  std::string name;
  std::string called;  // for errors: "function serve", with the model's folder in `tag`
  std::string tag;
  std::optional<Parameters> parameters;  // none: positional arguments go on as they are
  std::vector<std::string> traces;
};

// Keys and values of a table that changes; undefined for other objects.
struct SavedTable {
  Tensor keys, values;
};

// The variables among the objects, by node, with their values from the bundle at `prefix`. What no function
// uses is read when it is asked for: Keras exports a second copy of every weight.
class SavedVariables {
 public:
  // `by_name`: the checkpoint knows them by their names, as TensorFlow 1 wrote them. Throws when a variable
  // has no value, or one of another type or shape.
  SavedVariables(const format::SavedObjectGraph& objects, const std::string& prefix, bool by_name);
  // Undefined for objects of other kinds.
  const Variable& at(size_t node) const;
  const SavedTable& table(size_t node) const { return tables_[node]; }

 private:
  std::vector<std::string> names() const;
  std::vector<std::string> keys_of_objects() const;
  Variable read(size_t node, const std::string& key) const;

  const format::SavedObjectGraph* objects_ = nullptr;
  std::unique_ptr<const format::BundleReader> bundle_;
  mutable std::mutex mutex_;
  mutable std::vector<Variable> variables_;
  std::vector<SavedTable> tables_;
  std::vector<std::string> waiting_;  // keys of those that are read later
};

class LoadedState : public std::enable_shared_from_this<LoadedState> {
 public:
  // A trace of a function: its arguments, ((positional...), {by name}), and its results.
  struct SavedTrace {
    Value inputs, outputs;
  };

  LoadedState(std::string dir, format::MetaGraphDef graph, const LoadOptions& options, size_t file_size);

  const std::string& dir() const { return dir_; }
  // "function serve of DIR", for errors.
  std::string of_this(const std::string& what) const { return what + " of " + dir_; }
  const format::MetaGraphDef& graph() const { return graph_; }
  const std::vector<MissingOp>& missing_ops() const { return missing_; }
  std::map<std::string, SignatureFunction> signatures() const;

  // ---- the object graph
  const format::SavedObject& object(int node) const { return objects().nodes[size_t(node)]; }
  const Variable& variable(int node) const {
    return variables_->at(size_t(node));
  }  // undefined: another kind
  bool is_function(int node) const;
  int child(int node, const std::string& name) const;  // -1: there is none
  // Names are separated by dots, and may hold dots themselves. -1: there is none.
  int at_path(int node, std::string_view path) const;
  // Objects below, breadth first, functions and what belongs to them left out; with their paths ("layer/w").
  std::vector<std::pair<std::string, int>> below(int node) const;

  // ---- functions
  const SavedTrace& trace(const std::string& name) const;
  // What the file says of a trace. Throws InvalidArgumentError if it has none of that name.
  const format::SavedConcreteFunction& saved_function(const std::string& name) const;
  std::shared_ptr<const LoadedFunction::Core> function(int node, const std::string& name) const;
  // Throws UnimplementedError, with the names of ops, when the function cannot run here. `called` is what the
  // user knows it by: "function serve".
  std::shared_ptr<const ConcreteFunction> concrete(const std::string& name, const std::string& called) const;

 private:
  const format::SavedObjectGraph& objects() const { return *graph_.object_graph_def; }
  void check_objects() const;
  void make_values();
  bool reads_only_assets(const std::string& function) const;
  Tensor made_resource(int node) const;
  Tensor constant(const std::string& operation) const;
  Tensor asset_path(const format::SavedAsset& asset) const;
  SignatureFunction::Core signature(const std::string& name, const std::string& function) const;
  void find_missing_ops();
  void find_gradients();
  // By node: functions, and the argument that each takes it as.
  using CapturedBy = std::unordered_map<int, std::vector<std::pair<std::string, std::string>>>;
  CapturedBy find_captured_by() const;
  SavedGradient::Capture gradient_capture(int node, const CapturedBy& captured_by) const;
  std::shared_ptr<const ConcreteFunction> build(const std::string& name) const;
  Tensor captured(int node, std::vector<Variable>* variables) const;
  const std::string& only_trace_of(int node, const char* name) const;
  // ---- session_objects.cc
  void add_session_objects(size_t file_size);
  std::shared_ptr<const ConcreteFunction> build_session(const std::string& name,
                                                        const SessionFunction& function) const;

  std::string dir_;
  format::MetaGraphDef graph_;
  LoadOptions options_;
  const int64_t constant_bytes_;  // what all constants may have
  std::optional<SavedVariables> variables_;
  std::vector<Tensor> values_;                       // of constants and assets, by node
  std::map<std::string, SessionFunction> sessions_;  // of TensorFlow 1: functions that no library has
  std::vector<MissingOp> missing_;

  mutable std::recursive_mutex mutex_;  // guards the following
  mutable std::vector<Tensor> resources_;
  mutable std::set<int> in_making_;  // resources
  mutable OpCheck check_;
  mutable FunctionLibraryReader library_;
  mutable std::unordered_map<std::string, SavedTrace> traces_;
  mutable std::unordered_map<std::string, std::shared_ptr<const ConcreteFunction>> concrete_;
  mutable std::unordered_map<int, std::shared_ptr<const LoadedFunction::Core>> functions_;
};

}  // namespace rw::saved_model
