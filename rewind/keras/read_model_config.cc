// Functional and sequential models from configs: see model_config.cc.
#include "rewind/base/error.h"
#include "rewind/keras/layers/input_layer.h"
#include "rewind/keras/model_config.h"
#include "rewind/keras/registry.h"
#include "rewind/keras/sequential.h"

namespace rw::keras {
namespace {

LayerOptions model_options(const Config& config, const std::string& kind) {
  LayerOptions options;
  ConfigFields f = ConfigFields::reading(config, kind);
  if (const Config* name = config.find("name"); name && !name->is_null()) f("name", options.name);
  if (const Config* on = config.find("trainable"); on && !on->is_null()) f("trainable", options.trainable);
  f("dtype", options.dtype);
  return options;
}

LayerRef read_functional_layer(const Config& config) {
  return read_functional(config, model_options(config, "Functional"));
}

// Files of Keras 2 have the shape of the input in the options of the first layer.
LayerRef first_input(const Config& layer) {
  const Config* options = layer.find("config");
  const Config* shape = options ? options->find("batch_input_shape") : nullptr;
  const Config* kind = layer.find("class_name");
  if (!shape || !shape->list() || (kind && kind->text() && *kind->text() == "InputLayer")) return {};
  InputLayerOptions o;
  Shape batch;
  from_config(*shape, &batch);
  if (const Config* dtype = options->find("dtype"); dtype && dtype->text()) from_config(*dtype, &o.dtype);
  return InputLayer(batch, o);
}

LayerRef read_sequential(const Config& config) {
  const Config* layers = config.find("layers");
  if (!layers || !layers->list()) fail_config("the layers of a sequential model as a list", config);
  std::vector<LayerRef> list;
  for (const Config& c : *layers->list()) {
    if (list.empty())
      if (const LayerRef input = first_input(c); input.defined()) list.push_back(input);
    LayerRef layer;
    from_config(c, &layer);
    if (!layer.defined()) fail_config("a layer of a sequential model", c);
    list.push_back(layer);
  }
  Sequential model(list, model_options(config, "Sequential"));
  const Config* shape = config.find("build_input_shape");
  if (shape && shape->list() && !model.built() && !list.empty()) {
    Shape input;
    from_config(*shape, &input);
    model.build_for(input);
  }
  return model;
}

}  // namespace

void add_model_classes(ClassRegistry& r) {
  r.layers.add("Functional", read_functional_layer);
  r.layers.add("Model", read_functional_layer);
  r.layers.add("Sequential", read_sequential);
}

}  // namespace rw::keras
