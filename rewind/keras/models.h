// Whole models: from configs, copies, and files.
//
//   auto model = keras::models::load_model("model.keras");   // architecture, weights, optimizer
//   keras::models::save_model(model, "model.keras");         // or model.save("model.keras")
#pragma once

#include <string>

#include "rewind/keras/config_fields.h"
#include "rewind/keras/model.h"

namespace rw::keras::models {

// What model.to_json() gave, here or in Keras. The model has new weights, and is not compiled.
Model model_from_json(const std::string& json);
// {"class_name", "config", ...} of a model.
Model model_from_config(const Config& config);
// The same architecture with new weights; a model with the same names.
Model clone_model(const Model& model);

}  // namespace rw::keras::models
