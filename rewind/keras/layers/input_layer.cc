#include "rewind/keras/layers/input_layer.h"

#include "rewind/keras/functional_graph.h"
#include "rewind/keras/layer_state.h"
#include "rewind/tensor/trace.h"

namespace rw::keras {

InputLayer::InputLayer(const Shape& batch_shape, const InputLayerOptions& options)
    : LayerOf({.name = options.name, .trainable = true, .dtype = options.dtype}),
      batch_shape_(batch_shape),
      dtype_(options.dtype) {
  set_built();
}

Tensor InputLayer::call(const Tensor& input, const CallArgs&) { return input; }

// The node keeps the layer, never the other way round: a model that nobody holds any more goes away.
KerasTensor InputLayer::output() const {
  const std::lock_guard lock(tracing_mutex());
  std::vector<std::weak_ptr<GraphNode>>& nodes = layer_state()->nodes;
  if (!nodes.empty())
    if (std::shared_ptr<GraphNode> node = nodes.front().lock()) return {std::move(node), 0};
  auto node = std::make_shared<GraphNode>();
  node->shapes = {batch_shape_};
  node->dtypes = {dtype_};
  node->layer = LayerRef::to(*this);
  nodes.assign(1, node);
  return {std::move(node), 0};
}

}  // namespace rw::keras
