// Layers to and from configs.
#include "rewind/base/dynamic_type.h"
#include "rewind/base/error.h"
#include "rewind/keras/functional_graph.h"
#include "rewind/keras/layer_state.h"
#include "rewind/keras/layers/attention.h"
#include "rewind/keras/layers/rnn.h"
#include "rewind/keras/model.h"
#include "rewind/keras/model_config.h"
#include "rewind/keras/operation.h"
#include "rewind/keras/registry.h"

namespace rw::keras {
namespace {

[[noreturn]] void fail_no_config(const Layer& layer) {
  const std::string name = layer.class_name();
  fail_unimplemented("get_config", "class " + name + " of layer \"" + layer.name() +
                                       "\" has no config: list its options by RW_CONFIG and register it by "
                                       "keras::saving::register_keras_serializable<" +
                                       name + ">(\"package\", \"" + name + "\"), or override get_config()");
}

// Layers that Keras has built from the beginning: their configs do not say for which shapes.
bool always_built(const std::string& class_name) {
  for (const char* name : {"Activation", "Dropout", "ELU", "GaussianDropout", "GaussianNoise", "InputLayer",
                           "LeakyReLU", "Masking", "ReLU", "Reshape", "Softmax"})
    if (class_name == name) return true;
  for (const char* part : {"SpatialDropout", "AveragePooling", "MaxPooling"})
    if (class_name.find(part) != std::string::npos) return true;
  return false;
}

// The shapes that a layer was built for, under the names of the arguments that Keras' build() takes.
Config build_config(const Layer& layer, const std::vector<Shape>& shapes) {
  Config out;
  const bool attends = dynamic_cast_to<const MultiHeadAttention*>(&layer) != nullptr;
  if (attends && shapes.size() > 1) {
    Config& dict = out["shapes_dict"];
    const char* const names[] = {"query_shape", "value_shape", "key_shape"};
    for (size_t i = 0; i < shapes.size() && i < 3; ++i) dict[names[i]] = to_config(shapes[i]);
  } else if (shapes.size() > 1 && dynamic_cast_to<const detail::RnnLayer*>(&layer)) {
    Config& dict = out["shapes_dict"];
    dict["sequences_shape"] = to_config(shapes[0]);
    dict["initial_state_shape"] = to_config(std::vector<Shape>(shapes.begin() + 1, shapes.end()));
  } else {
    out["input_shape"] = shapes.size() == 1 ? to_config(shapes[0]) : to_config(shapes);
  }
  return out;
}

}  // namespace

void Layer::set_origin(std::shared_ptr<const Origin> origin) const { state_->origin = std::move(origin); }

Config Layer::get_config() const {
  Config config;
  config["name"] = name();
  config["trainable"] = trainable();
  config["dtype"] = to_config(state_->policy);
  ConfigFields f = ConfigFields::writing(&config);
  if (state_->origin && state_->origin->class_name() == class_name()) {
    state_->origin->write(f);
    return config;
  }
  const OwnClass* own = own_class(dynamic_type(*this));
  if (!own) fail_no_config(*this);
  if (own->write) own->write(f, dynamic_cast<const void*>(this));
  return config;
}

Config serialized_layer(const Layer& any) {
  const Model* model = any.as_model();
  const Layer& layer = model ? static_cast<const Layer&>(model->object()) : any;
  const OwnClass* own = own_class(dynamic_type(layer));
  const auto* operation = dynamic_cast_to<const Operation*>(&layer);
  const std::string class_name = layer.class_name();
  const bool functional = layer.as_model() && class_name == "Functional";
  Config out;
  out["module"] = own                ? Config()
                  : operation        ? Config(operation->module())
                  : functional       ? Config("keras.src.models.functional")
                  : layer.as_model() ? Config("keras")
                                     : Config("keras.layers");
  out["class_name"] = own ? own->class_name : class_name;
  out["config"] = layer.get_config();
  out["registered_name"] = own                       ? Config(own->registered_name)
                           : operation || functional ? Config(class_name)
                                                     : Config();
  const LayerState& s = *layer.layer_state();
  if (functional) out["build_config"]["input_shape"] = Config();
  else if (s.built && !s.build_shapes.empty() && !operation && !always_built(class_name))
    out["build_config"] = build_config(layer, s.build_shapes);
  if (model) out["compile_config"] = compile_config(*model);
  return out;
}

Config to_config(const LayerRef& v) { return v.defined() ? serialized_layer(*v) : Config(); }

void from_config(const Config& c, LayerRef* v) {
  *v = c.is_null() ? LayerRef() : object_from<LayerRef>(c, class_registry().layers, "layer", nullptr);
}

}  // namespace rw::keras
