// SavedModels of models, as Keras' model.export() writes them: the root has `__call__` and `serve`, and the
// lists `variables`, `trainable_variables` and `non_trainable_variables`.
#pragma once

#include <string>

#include "rewind/keras/model.h"
#include "rewind/saved/save_model.h"

namespace rw::saved_model {

// The model for inputs of the shapes that it was built with, batches of any size: `serve(inputs)`, which is
// the signature "serving_default" too unless others are given, and `__call__(inputs, training=False)`. Inputs
// have the names of the model's inputs. Throws FailedPreconditionError for a model that is not built.
void save(const keras::Model& model, const std::string& directory, const SaveOptions& options = {});

}  // namespace rw::saved_model
