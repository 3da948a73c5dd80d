// One trace of a function: its graph, what it captured, and how it runs.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "rewind/base/small_vector.h"
#include "rewind/compiler/memory/memory_report.h"
#include "rewind/tensor/tensor.h"
#include "rewind/tensor/variable.h"

namespace rw {

class Graph;
class Trace;
struct FunctionVariants;

// What an argument may be: a dtype and a shape with unknown sizes (-1) or of unknown rank.
struct TensorSpec {
  Shape shape = Shape::unknown_rank();
  DType dtype = DType::kFloat32;
  std::string name = {};

  bool admits(const Tensor& t) const { return t.dtype() == dtype && admits_shape(t.shape()); }
  bool admits_shape(const Shape& s) const;
  std::string to_string() const;  // "TensorSpec(shape=(None, 2), dtype=float32)"
};

// A view of a graph for users: names, operations, exchange formats.
class FunctionGraph {
 public:
  explicit FunctionGraph(std::shared_ptr<const Graph> graph) : graph_(std::move(graph)) {}

  struct Operation {
    std::string name;  // "MatMul_1"
    std::string type;  // "MatMul"
    std::vector<std::string> inputs;
  };
  std::vector<Operation> operations() const;
  // TensorFlow's GraphDef: as text, or as bytes.
  std::string as_graph_def() const;
  std::string as_graph_def_binary() const;
  std::string to_string() const;  // one line a node
  std::string as_dot() const;     // a drawing for Graphviz
  const Graph& ir() const { return *graph_; }

 private:
  std::shared_ptr<const Graph> graph_;
};

class ConcreteFunction : public std::enable_shared_from_this<ConcreteFunction> {
 public:
  // Takes over a finished trace.
  explicit ConcreteFunction(const Ref<Trace>& trace, int64_t memory_budget = 0);
  ConcreteFunction(std::shared_ptr<const Graph> graph, size_t num_arguments, std::vector<Tensor> captures,
                   std::vector<Variable> variables, int64_t memory_budget = 0);
  ~ConcreteFunction();
  ConcreteFunction(const ConcreteFunction&) = delete;
  ConcreteFunction& operator=(const ConcreteFunction&) = delete;

  // Flat tensors, one per argument. Runs the compiled graph; in a trace it becomes a call node, or its nodes
  // where somebody listens to them.
  std::vector<Tensor> operator()(const std::vector<Tensor>& arguments) const;
  void call(std::span<const Tensor> arguments, SmallVector<Tensor, 4>* results) const;

  // What a call with such arguments does with memory: the predicted peak, what is kept and what is
  // recomputed.
  MemoryReport memory_plan(std::span<const Tensor> arguments) const;

  std::shared_ptr<const ConcreteFunction> shared() const { return shared_from_this(); }
  const std::string& name() const;
  FunctionGraph graph() const { return FunctionGraph(graph_); }
  std::vector<TensorSpec> inputs() const;
  std::vector<TensorSpec> outputs() const;
  const std::vector<Tensor>& captured_inputs() const { return captures_; }
  const std::vector<Variable>& variables() const { return variables_; }
  std::vector<Variable> trainable_variables() const;
  // "step(x: TensorSpec(...), y: ...) -> TensorSpec(...)"
  std::string signature() const;

 private:
  friend struct FunctionVariants;
  bool fits_as_node(const std::vector<Tensor>& inputs) const;
  std::vector<Tensor> add_call(const std::vector<Tensor>& inputs) const;
  std::shared_ptr<const Graph> graph_;
  size_t num_arguments_;
  int64_t memory_budget_ = 0;
  std::vector<Tensor> captures_;
  std::vector<Variable> variables_;
  std::unique_ptr<FunctionVariants> variants_;
};

}  // namespace rw
