// Models to and from configs; for the library's own files.
#pragma once

#include "rewind/keras/config_fields.h"
#include "rewind/keras/layer_ref.h"
#include "rewind/keras/model.h"

namespace rw::keras {

// {"module", "class_name", "config", "registered_name", "build_config", "compile_config"}.
Config serialized_layer(const Layer& layer);
bool is_functional(const Layer& layer);
// The model whose layers and graph the config of a functional model has (read_functional.cc).
Model read_functional(const Config& config, const LayerOptions& options);
// What the model was compiled with; no members if it was not.
Config compile_config(const Model& model);
// Compiles the model as such a config says.
void compile_from_config(Model& model, const Config& config);

}  // namespace rw::keras
