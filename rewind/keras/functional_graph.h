// The graph of a functional model: calls of layers between inputs and outputs.
#pragma once

#include "rewind/keras/layer_ref.h"
#include "rewind/keras/tensor_structure.h"

namespace rw::keras {

// A tensor of the graph that a call takes as a mask, beside its inputs.
struct MaskInput {
  std::string name;  // of the argument: "mask", "query_mask", "attention_mask"
  size_t input = 0;  // whose mask it is
  KerasTensor tensor;
  bool in_list = false;  // written as one of a list
};

// One symbolic call.
struct GraphNode {
  LayerRef layer;
  std::vector<KerasTensor> inputs;
  CallArgs args;
  std::vector<MaskInput> masks = {};
  std::vector<Shape> shapes;  // of the results
  std::vector<DType> dtypes;
  size_t number = 0;  // among the calls of the layer
  bool is_input() const { return inputs.empty(); }
  // The inputs and the masks.
  std::vector<KerasTensor> sources() const;
};

// The call with its masks as they are named.
CallArgs with_masks(CallArgs args, const std::vector<MaskInput>& masks, const std::vector<Tensor>& values);
// A symbolic call that takes tensors of the graph as masks.
std::vector<KerasTensor> call_with_masks(const Layer& layer, const std::vector<KerasTensor>& inputs,
                                         const CallArgs& args, const std::vector<MaskInput>& masks);

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
