#include "rewind/keras/layers/input_layer.h"

#include "rewind/keras/functional_graph.h"
#include "rewind/keras/layer_state.h"

namespace rw::keras {

InputLayer::InputLayer(const Shape& batch_shape, const InputLayerOptions& options)
    : LayerOf({.name = options.name, .trainable = true, .dtype = options.dtype}) {
  set_built();
  auto node = std::make_shared<GraphNode>();
  node->shapes = {batch_shape};
  node->dtypes = {options.dtype};
  output_ = KerasTensor(node, 0);
  node->layer = LayerRef::to(*this);
  layer_state()->nodes.push_back(node);
}

}  // namespace rw::keras
