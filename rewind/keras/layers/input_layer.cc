#include "rewind/keras/layers/input_layer.h"

#include "rewind/keras/functional_graph.h"
#include "rewind/keras/layer_state.h"
#include "rewind/keras/registry.h"
#include "rewind/tensor/trace.h"

namespace rw::keras {
namespace {

// Keras writes these without `trainable`, and the dtype by its name.
struct InputLayerArguments {
  static constexpr const char* kName = "InputLayer";
  Shape batch_shape = {};
  DType dtype = DType::kFloat32;
  std::string name = {};
};
void fields(ConfigFields& f, InputLayerArguments& a) {
  if (Config* out = f.object()) {
    out->erase("trainable");
  } else {
    f("name", a.name);
    f("batch_input_shape", a.batch_shape);  // as Keras 2 calls it
  }
  f("batch_shape", a.batch_shape);
  f("dtype", a.dtype);
  f.only("sparse", false);
  f.only("ragged", false);
  f.only("optional", false);
}

LayerRef make_input(const Config& config) {
  InputLayerArguments a;
  ConfigFields f = ConfigFields::reading(config, a.kName);
  fields(f, a);
  f.ignore("trainable");
  f.finish();
  return InputLayer(a.batch_shape, {.dtype = a.dtype, .name = a.name});
}

}  // namespace

void add_input_layer_classes(ClassRegistry& r) { r.layers.add("InputLayer", make_input); }

InputLayer::InputLayer(const Shape& batch_shape, const InputLayerOptions& options)
    : LayerOf({.name = options.name, .trainable = true, .dtype = options.dtype}),
      batch_shape_(batch_shape),
      dtype_(options.dtype) {
  set_origin(origin_of(InputLayerArguments{batch_shape, options.dtype, options.name}));
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
