// The graph of a functional model: calls of layers between inputs and outputs.
#pragma once

#include "rewind/keras/layer_ref.h"

namespace rw::keras {

// One symbolic call.
struct GraphNode {
  LayerRef layer;
  std::vector<KerasTensor> inputs;
  CallArgs args;
  std::vector<Shape> shapes;  // of the results
  std::vector<DType> dtypes;
  size_t number = 0;  // among the calls of the layer
  bool is_input() const { return inputs.empty(); }
};

// How Keras wrote the inputs or the outputs of a model: by name, as a list, or alone.
struct TensorStructure {
  std::vector<std::string> names = {};  // one a tensor, or none
  bool list = false;                    // of one alone
};

class FunctionalGraph {
 public:
  // Throws InvalidArgumentError if an output needs something that no input gives.
  FunctionalGraph(std::vector<KerasTensor> inputs, std::vector<KerasTensor> outputs);

  std::vector<Tensor> run(const std::vector<Tensor>& inputs) const;
  const std::vector<KerasTensor>& inputs() const { return inputs_; }
  const std::vector<KerasTensor>& outputs() const { return outputs_; }
  // From inputs to outputs, as Keras orders them: by depth, the longest way to an output first.
  const std::vector<std::vector<std::shared_ptr<GraphNode>>>& nodes_by_depth() const { return by_depth_; }
  const std::vector<LayerRef>& operations() const { return operations_; }

  TensorStructure input_structure, output_structure;

 private:
  std::vector<KerasTensor> inputs_, outputs_;
  std::vector<std::vector<std::shared_ptr<GraphNode>>> by_depth_;  // deepest first
  std::vector<LayerRef> operations_;
};

}  // namespace rw::keras
