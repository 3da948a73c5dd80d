// One trace of a function: its graph, what it captured, and how it runs. A handle: copies are the same trace.
//
//   rw::ConcreteFunction f = g.get_concrete_function(rw::TensorSpec{{-1, 2}, rw::float32});
//   rw::Tensor y = f(x);
#pragma once

#include <concepts>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "rewind/base/small_vector.h"
#include "rewind/compiler/memory/memory_report.h"
#include "rewind/function/structure.h"
#include "rewind/tensor/operand.h"
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
  const std::shared_ptr<const Graph>& ir_ref() const { return graph_; }

 private:
  std::shared_ptr<const Graph> graph_;
};

// The results of a call, flat: a tensor where there is one, a list otherwise.
class FunctionResults {
 public:
  explicit FunctionResults(std::vector<Tensor> list) : list_(std::move(list)) {}
  operator Tensor() const;                                // NOLINT: throws unless there is one result
  operator std::vector<Tensor>() const { return list_; }  // NOLINT: the list is what they are
  const Tensor& operator[](size_t i) const { return list_[i]; }
  size_t size() const { return list_.size(); }
  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }

 private:
  std::vector<Tensor> list_;
};

class ConcreteFunction {
 public:
  // Takes over a finished trace.
  explicit ConcreteFunction(const Ref<Trace>& trace, int64_t memory_budget = 0, CallStructure structure = {});
  ConcreteFunction(std::shared_ptr<const Graph> graph, size_t num_arguments, std::vector<Tensor> captures,
                   std::vector<Variable> variables, int64_t memory_budget = 0, CallStructure structure = {});

  // Flat tensors, one per argument. Runs the compiled graph; in a trace it becomes a call node, or its nodes
  // where somebody listens to them.
  std::vector<Tensor> operator()(const std::vector<Tensor>& arguments) const;
  // The same one by one: tensors, variables, and numbers, which take the arguments' types.
  template <class... A>
    requires(std::convertible_to<const A&, Operand> && ...)
  FunctionResults operator()(const A&... arguments) const {
    std::vector<Tensor> list;
    (list.push_back(Operand(arguments).tensor(argument_type(list.size()))), ...);
    return FunctionResults((*this)(list));
  }
  void call(std::span<const Tensor> arguments, SmallVector<Tensor, 4>* results) const;

  // A handle reads as what it stands for, so that pointers to concrete functions and these are written alike.
  const ConcreteFunction* operator->() const { return this; }
  const ConcreteFunction& operator*() const { return *this; }
  std::shared_ptr<const ConcreteFunction> shared() const {
    return std::make_shared<const ConcreteFunction>(*this);
  }
  operator std::shared_ptr<const ConcreteFunction>() const { return shared(); }  // NOLINT
  friend bool operator==(const ConcreteFunction& a, const ConcreteFunction& b) {
    return a.state_ == b.state_;
  }

  // What a call with such arguments does with memory: the predicted peak, what is kept and what is
  // recomputed.
  MemoryReport memory_plan(std::span<const Tensor> arguments) const;

  const std::string& name() const;
  FunctionGraph graph() const;
  std::vector<TensorSpec> inputs() const;
  std::vector<TensorSpec> outputs() const;
  const std::vector<Tensor>& captured_inputs() const;
  const std::vector<Variable>& variables() const;
  std::vector<Variable> trainable_variables() const;
  // How the flat arguments and results stand in those of the C++ function.
  const CallStructure& structure() const;
  // "step(x: TensorSpec(...), y: ...) -> TensorSpec(...)"
  std::string signature() const;

 private:
  struct State;
  friend struct FunctionVariants;
  bool fits_as_node(const std::vector<Tensor>& inputs) const;
  std::vector<Tensor> add_call(const std::vector<Tensor>& inputs) const;
  DType argument_type(size_t i) const;  // kInvalid behind the last one
  std::shared_ptr<const State> state_;
};

}  // namespace rw
