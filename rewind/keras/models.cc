#include "rewind/keras/models.h"

#include "rewind/keras/layer_state.h"
#include "rewind/keras/model_config.h"
#include "rewind/keras/registry.h"

namespace rw::keras::models {

Model model_from_config(const Config& config) {
  LayerRef layer;
  from_config(config, &layer);
  if (!layer.defined()) fail_config("the config of a model", config);
  const Model model = Model::handle_of(layer);
  // A subclass is built for the shapes that it had.
  const Config* build = config.find("build_config");
  const Config* shape = build ? build->find("input_shape") : nullptr;
  if (!model.built() && shape && shape->list() && !shape->list()->empty()) {
    std::vector<Shape> shapes(1);
    if ((*shape->list())[0].list()) from_config(*shape, &shapes);
    else from_config(*shape, &shapes[0]);
    model.build_for(shapes);
  }
  return model;
}

Model model_from_json(const std::string& json) {
  return model_from_config(format::parse_json(json, "the text for model_from_json"));
}

Model clone_model(const Model& model) { return model_from_config(serialized_layer(model)); }

}  // namespace rw::keras::models
