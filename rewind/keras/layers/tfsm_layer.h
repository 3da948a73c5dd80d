// TFSMLayer: a function of a SavedModel as a layer, whose variables are the layer's weights.
//
//   keras::TFSMLayer layer("dir", {.call_endpoint = "serving_default"});
//   keras::Model model(x, keras::Dense(3)(layer(x)));
#pragma once

#include "rewind/keras/layer.h"

namespace rw::saved_model {
class LoadedModel;
}

namespace rw::keras {

struct TFSMLayerOptions {
  std::string call_endpoint = "serve";      // an attribute of the SavedModel, or else one of its signatures
  std::string call_training_endpoint = {};  // in training; empty: the same
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};
};

// Several inputs are a list for an attribute, and for a signature its inputs in the order of their names.
// Results of a signature come in the order of their names. Throws InvalidArgumentError for an endpoint that
// the SavedModel does not have, and what saved_model::load throws.
class TFSMLayer : public LayerOf<TFSMLayer> {
 public:
  explicit TFSMLayer(const std::string& filepath, const TFSMLayerOptions& options = {});
  std::vector<Tensor> call_many(const std::vector<Tensor>& inputs, const CallArgs& args) override;
  bool takes_what_it_reads() const override { return false; }

 private:
  std::shared_ptr<const saved_model::LoadedModel> loaded_;
  TFSMLayerOptions options_;
};

}  // namespace rw::keras
