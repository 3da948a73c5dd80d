// SavedModels, as TensorFlow 2, Keras 3 and this library export them, without the code that made them.
//
//   auto loaded = rw::saved_model::load("dir");
//   std::map<std::string, rw::Tensor> out = loaded.signatures().at("serving_default")({{"x", x}});
//   rw::Tensor y = loaded(x);                                 // __call__
//   auto step = loaded.function("train_step");
//   std::vector<rw::Tensor> r = step.call({x, y}, {{"training", true}});
//   rw::Variable w = loaded.child("layer").variable("w");
//
// Functions run, differentiate, go into other functions and compile under a budget like functions of the
// program's own. Everything may be used from any number of threads.
#pragma once

#include <concepts>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rewind/function/concrete_function.h"
#include "rewind/module/module.h"
#include "rewind/saved/value.h"

namespace rw::saved_model {

class LoadedModel;
class LoadedState;

struct LoadOptions {
  // Which MetaGraph of several; by default the only one, or else the one of "serve".
  std::vector<std::string> tags = {};
  // Ops that reach files, sockets or other programs are refused in loaded graphs, but for these.
  std::vector<std::string> allowed_ops = {};
  // Bytes that a call may hold on the device; 0: the device's budget, if one is set.
  int64_t memory_budget = 0;
};

// What stands in a function's way.
struct MissingOp {
  std::string op;
  bool refused = false;                // the op reaches out of the process and was not allowed
  std::vector<std::string> functions;  // "signature serving_default", "train_step"
};

// A function with named inputs and outputs.
class SignatureFunction {
 public:
  // Throws InvalidArgumentError for names, dtypes and shapes other than inputs() has.
  std::map<std::string, Tensor> operator()(const std::map<std::string, Tensor>& inputs) const;
  // The same without a name, where there is one input.
  template <std::same_as<Tensor> T>
  std::map<std::string, Tensor> operator()(const T& only) const {
    return (*this)(std::map<std::string, Tensor>{{only_input(), only}});
  }
  // Specs by name.
  const std::map<std::string, TensorSpec>& inputs() const;
  const std::map<std::string, TensorSpec>& outputs() const;
  std::shared_ptr<const ConcreteFunction> concrete_function() const;

 private:
  friend class LoadedState;
  struct Core;
  const std::string& only_input() const;
  SignatureFunction(std::shared_ptr<const LoadedState> state, std::shared_ptr<const Core> core);
  std::shared_ptr<const LoadedState> state_;
  std::shared_ptr<const Core> core_;
};

// A Python function with the traces that were saved.
class LoadedFunction {
 public:
  // Runs the trace that was made for such arguments. Throws InvalidArgumentError, with a list of the traces,
  // when there is none.
  std::vector<Tensor> call(std::vector<Value> arguments = {},
                           std::map<std::string, Value> by_name = {}) const;
  // The same with the results in the structure that the Python function returned.
  Value call_structured(std::vector<Value> arguments = {}, std::map<std::string, Value> by_name = {}) const;
  // The only tensor among the results.
  template <class... A>
  Tensor operator()(A&&... arguments) const {
    return only_result({Value(std::forward<A>(arguments))...});
  }
  // One argument, a list of tensors: f({x, y}).
  Tensor operator()(const std::vector<Tensor>& list) const { return only_result({Value(list)}); }
  // The trace for arguments like these; a TensorSpec stands for a tensor of its kind.
  std::shared_ptr<const ConcreteFunction> get_concrete_function(
      std::vector<Value> arguments = {}, std::map<std::string, Value> by_name = {}) const;
  std::vector<std::shared_ptr<const ConcreteFunction>> concrete_functions() const;
  const std::string& name() const;
  // "(x, training=False)"
  std::string parameters() const;
  // One line per trace: what it was made for.
  std::vector<std::string> traces() const;

 private:
  friend class LoadedState;
  friend class LoadedModel;
  struct Core;
  LoadedFunction(std::shared_ptr<const LoadedState> state, std::shared_ptr<const Core> core);
  struct Choice;
  Choice choose(std::vector<Value> arguments, Dict by_name) const;
  Tensor only_result(std::vector<Value> arguments) const;
  std::shared_ptr<const LoadedState> state_;
  std::shared_ptr<const Core> core_;
};

// An object of a SavedModel: the root, or a child of it. Copies are the same object.
class LoadedModel : public Module {
 public:
  // `__call__`: the only tensor among its results; call() has the others.
  template <class... A>
  Tensor operator()(A&&... arguments) const {
    return function("__call__")(std::forward<A>(arguments)...);
  }
  Tensor operator()(const std::vector<Tensor>& list) const { return function("__call__")(list); }
  std::vector<Tensor> call(std::vector<Value> arguments = {},
                           std::map<std::string, Value> by_name = {}) const {
    return function("__call__").call(std::move(arguments), std::move(by_name));
  }

  bool is_root() const { return node_ == 0; }
  // By name; of the root.
  const std::map<std::string, SignatureFunction>& signatures() const;

  // By paths of attributes, as in "encoder.layers.0.kernel". Each throws NotFoundError that lists what is
  // there.
  LoadedFunction function(const std::string& path) const;
  LoadedModel child(const std::string& path) const;
  Variable variable(const std::string& path) const;
  bool has_function(const std::string& path) const;
  // The attributes that are objects, in the file's order; functions, with `__call__`.
  std::vector<std::string> child_names() const;
  std::vector<std::string> function_names() const;

  // Those of the lists that Keras exports as `variables`, `trainable_variables`, `non_trainable_variables`;
  // of other objects those below it, breadth first.
  std::vector<Variable> variables() const;
  std::vector<Variable> trainable_variables() const;
  std::vector<Variable> non_trainable_variables() const;

  // Ops that this build does not have, or that are refused. Functions that need none of them work.
  const std::vector<MissingOp>& missing_ops() const;
  const std::string& tensorflow_version() const;  // that wrote it
  const std::string& path() const;

  void visit_members(ChildCollector& collector) override;
  TrackablePtr trackable() const override;

 private:
  using Signatures = std::map<std::string, SignatureFunction>;
  friend LoadedModel load(const std::string& dir, const LoadOptions& options);
  LoadedModel(std::shared_ptr<const LoadedState> state, std::shared_ptr<const Signatures> signatures,
              int node);
  std::shared_ptr<const LoadedState> state_;
  std::shared_ptr<const Signatures> signatures_;
  int node_;
};

// Reads a SavedModel folder. Throws NotFoundError without one, DataLossError for damaged files,
// InvalidArgumentError for a model that is not well formed. Names ops that are missing on stderr, with the
// functions that need them. Of TensorFlow 1's models the signatures are read; reference variables and loops
// of Switch and Merge are among the ops that are missing.
LoadedModel load(const std::string& dir, const LoadOptions& options = {});

struct GraphOptions {
  // Values that are given and asked for: "x", "x:0". By default all placeholders in the order of the file,
  // and the first outputs of nodes that no other node needs.
  std::vector<std::string> inputs = {}, outputs = {};
  std::vector<std::string> allowed_ops = {};  // as in LoadOptions
  int64_t memory_budget = 0;
};
// A GraphDef in a file (.pb, or as text .pbtxt, .txt) as a function: a frozen graph of TensorFlow 1, or what
// FunctionGraph::as_graph_def gave. What the outputs do not need is left out. Throws as load() does, and
// UnimplementedError with the names of ops that this build does not have.
std::shared_ptr<const ConcreteFunction> load_graph(const std::string& path, const GraphOptions& options = {});

}  // namespace rw::saved_model
