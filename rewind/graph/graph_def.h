// Graphs as TensorFlow's GraphDef and FunctionDef, both ways. format::encode, decode, to_text and from_text
// take the result from and to files.
//
//   arguments   nodes of op Placeholder with dtype and shape; resources that a function captured too
//   outputs     nodes of op Identity, last in the list (none are added to a graph whose outputs are such
//   nodes) attributes  all of them, also those that follow from the inputs or are left to their default
//   functions   in attributes (branches, bodies, calls): FunctionDefs of the library, each graph once
//   order       control edges between effects (see control_edges.h); on the way back, edges and then the
//   order of the
//               file give the order of the list
#pragma once

#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "rewind/format/graph_def.h"
#include "rewind/graph/graph.h"
#include "rewind/graph/tensor_proto.h"

namespace rw {

struct GraphDefOptions {
  std::vector<std::string> output_names{};  // of the Identity nodes; by default Identity, Identity_1, ...
};

// Names of tensors in a GraphDef, as in "x:0".
struct GraphDefNames {
  std::vector<std::string> inputs;   // one an argument
  std::vector<std::string> outputs;  // one an output
};

// `names` may be null.
format::GraphDef to_graph_def(const Graph& graph, const GraphDefOptions& options = {},
                              GraphDefNames* names = nullptr);

// Collects the functions that graphs refer to.
class FunctionLibraryWriter {
 public:
  // Adds the graph and all that it refers to, and returns its name in the library: the given one, or one like
  // the graph's own. Effects are among its control outputs. Throws AlreadyExistsError when the given name is
  // taken by another graph. The graph must outlive this object.
  std::string add(const Graph& graph, const std::string& name = {});
  bool empty() const { return library_.function.empty(); }
  // Functions come behind those that they refer to.
  format::FunctionDefLibrary take() { return std::move(library_); }

 private:
  std::string new_name(const Graph& graph);

  format::FunctionDefLibrary library_;
  std::unordered_map<const Graph*, std::string> names_;
  std::unordered_set<std::string> taken_;
};

struct GraphDefImport {
  // Placeholders in the order of the arguments; those not named follow in the order of the file.
  std::vector<std::string> inputs{};
  // "node" or "node:1". By default the outputs of nodes that nobody takes a value from, in the order of the
  // file.
  std::vector<std::string> outputs{};
  // Keep only what the outputs and these nodes need, as a session would run it. Otherwise every node stays.
  std::vector<std::string> targets{};
  bool prune = false;
  // More in all constants is refused: a few bytes of a file can ask for any number of equal elements.
  int64_t max_constant_bytes = std::numeric_limits<int32_t>::max();
};

// Throws NotFoundError for an op or a function that does not exist (it names the node), InvalidArgumentError
// for a graph that is not well formed, UnimplementedError for functions with type parameters and for
// recursion.
std::shared_ptr<Graph> from_graph_def(const format::GraphDef& def, const GraphDefImport& options = {});

// What is known of a value that a function will be called with.
struct ArgumentFacts {
  Shape shape = Shape::unknown_rank();
  std::shared_ptr<const VariableSpec> variable = {};  // of a resource
};

// Whether every shape that `more` admits is one that `less` admits.
bool says_more(const Shape& more, const Shape& less);
// The most that is true of both.
Shape common_shape(const Shape& a, const Shape& b);
bool same_variable_spec(const std::shared_ptr<const VariableSpec>& a,
                        const std::shared_ptr<const VariableSpec>& b);

// A gradient of the user's own, as SavedModels hold it: nodes IdentityN with its name in _gradient_op_type
// take the function's results and inputs; the gradient function takes a gradient for each, and what it
// captured.
struct SavedGradient {
  struct Capture {
    std::unordered_map<std::string, std::string> value_in;  // by function: the value there, as in "Exp:0"
    std::optional<HostTensor> constant;                     // the same everywhere
  };
  std::string function;
  std::vector<int64_t> given;  // the inputs of IdentityN whose gradients it gives, in order
  std::vector<Capture> captures;
};

// The functions of a library as graphs, each made once, when it is asked for. The library must outlive this
// object.
class FunctionLibraryReader {
 public:
  explicit FunctionLibraryReader(const format::FunctionDefLibrary& library,
                                 int64_t max_constant_bytes = std::numeric_limits<int32_t>::max());
  bool has(const std::string& name) const { return functions_.count(name) != 0; }
  bool is_stateful(const std::string& name) const;
  // What the function says of its arguments. All throw NotFoundError.
  std::vector<ArgumentFacts> arguments_of(const std::string& name) const;
  std::vector<std::string> argument_names(const std::string& name) const;
  std::vector<std::string> output_names(const std::string& name) const;
  std::shared_ptr<const Graph> get(const std::string& name);
  // For a call with such arguments: what the function says of shapes and variables is kept where the caller
  // bears it out.
  std::shared_ptr<const Graph> get(const std::string& name, const std::vector<ArgumentFacts>& callers);
  // Of the functions' nodes, and of whoever else reads the file.
  ConstantReader& constants() { return constants_; }
  // For functions that are asked for later.
  void add_gradient(const std::string& gradient_op_type, SavedGradient gradient);
  const SavedGradient* gradient(const std::string& gradient_op_type) const;

 private:
  const format::FunctionDef& definition(const std::string& name) const;
  std::shared_ptr<const Graph> build(const std::string& name, const std::vector<ArgumentFacts>* callers);
  std::unordered_map<std::string, const format::FunctionDef*> functions_;
  std::unordered_map<std::string, std::shared_ptr<const Graph>> graphs_;  // by name and what callers know
  std::unordered_map<std::string, SavedGradient> gradients_;
  std::vector<std::string> in_work_;
  ConstantReader constants_;
};

}  // namespace rw
