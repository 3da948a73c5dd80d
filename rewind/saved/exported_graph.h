// Graphs of traces in TensorFlow's ops alone, as a SavedModel holds them:
//   a gradient of the user's own   an IdentityN; its attribute _gradient_op_type names the function
//   what is computed again         its values: TensorFlow keeps them
//   a loop                         one that counts its iterations: TensorFlow's gradient of While reads a
//                                  counter and a limit from the first two of the loop's values
//   an op of the user's own        its decomposition (decomposition.h)
// What has no such form is collected and named by check().
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rewind/graph/copy.h"
#include "rewind/graph/graph.h"

namespace rw::saved {

using GraphPtr = std::shared_ptr<const Graph>;

struct ExportedGradient {
  std::string op_type;  // "CustomGradient-3", which is also the name of the IdentityN
  GraphPtr graph;       // where that node is
  // Takes gradients of the node's outputs (results, then inputs) and the captures; gives those that `given`
  // lists.
  GraphPtr function;
  size_t num_results = 0, num_inputs = 0;
  std::vector<int64_t> given;
  // Of `graph`: an argument, or the node "<op_type>_capture_<k>".
  std::vector<std::optional<size_t>> captured_arguments;
};

class GraphExporter {
 public:
  // Each graph is made once. `name` is that of the function in the file, to which a number comes.
  GraphPtr get(const GraphPtr& graph, const std::string& name = {});
  const std::vector<ExportedGradient>& gradients() const { return gradients_; }
  // Throws UnimplementedError that names what cannot be saved.
  void check(const char* tag) const;

 private:
  void visit(const Graph& from, NodeId id, GraphCopy& copy, Graph& to, std::vector<size_t>* gradients);
  void decompose(const Node& node, GraphCopy& copy, Graph& to);
  void add_loop(const Graph& from, const Node& node, GraphCopy& copy, Graph& to);
  GraphPtr counting(const GraphPtr& function, bool is_body);
  // The nodes of a graph are in another one.
  void relocate(const GraphPtr& from, const GraphPtr& to);
  void add_gradient(const Graph& from, const Node& node, GraphCopy& copy, Graph& to);
  void refuse(const Graph& graph, const Node& node, const std::string& why);

  std::map<const Graph*, GraphPtr> made_;
  std::map<std::pair<const Graph*, bool>, GraphPtr> counting_;
  std::vector<GraphPtr> originals_;  // keeps the keys alive
  std::vector<ExportedGradient> gradients_;
  std::vector<std::string> problems_;
  int count_ = 0;
};

}  // namespace rw::saved
