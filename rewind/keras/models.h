// Whole models: from configs, copies, and files.
//
//   auto model = keras::models::load_model("model.keras");   // architecture, weights, optimizer
//   keras::models::save_model(model, "model.keras");         // or model.save("model.keras")
// A .keras file is a zip archive of metadata.json, config.json and model.weights.h5, an older .h5 file has
// the same as attributes and groups; Keras 3 reads both. What they do not keep: the states of random layers,
// and where an epoch stood (callbacks::BackupAndRestore does).
#pragma once

#include <string>

#include "rewind/keras/config_fields.h"
#include "rewind/keras/model.h"

namespace rw::keras::models {

struct LoadModelOptions {
  bool compile = true;    // with what the model was compiled with, the optimizer's variables among it
  bool safe_mode = true;  // refuses layers that bring code along: Lambda with Python's, TFSMLayer
  format::ExpansionLimit limit = {};  // of what is compressed, and of weights that a config asks for
};

// A model of a .keras, .h5 or .hdf5 file, or of a folder that Keras saved with zipped=False. Classes of the
// program's own are registered first (saving.h). Throws NotFoundError without the file, DataLossError for a
// damaged one, InvalidArgumentError, with file and place, for a config that is none of a model or names an
// unknown class.
Model load_model(const std::string& path, const LoadModelOptions& options = {});
// The model whole or not at all, by the extension: .keras, or .h5 and .hdf5. Throws AlreadyExistsError for a
// file that is there and may not be overwritten.
void save_model(const Model& model, const std::string& path, const SaveModelOptions& options = {});

// What model.to_json() gave, here or in Keras. The model has new weights, and is not compiled.
Model model_from_json(const std::string& json);
// {"class_name", "config", ...} of a model.
Model model_from_config(const Config& config);
// The same architecture with new weights; a model with the same names.
Model clone_model(const Model& model);

}  // namespace rw::keras::models

namespace rw::keras::saving {
using models::load_model;
using models::save_model;
}  // namespace rw::keras::saving
