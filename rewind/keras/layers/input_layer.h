// InputLayer: where a functional model begins.
#pragma once

#include "rewind/keras/layer.h"

namespace rw::keras {

struct InputLayerOptions {
  DType dtype = DType::kFloat32;
  std::string name = {};
};

class InputLayer : public LayerOf<InputLayer> {
 public:
  explicit InputLayer(const Shape& batch_shape, const InputLayerOptions& options = {});
  const Shape& batch_shape() const { return output_.shape(); }
  const KerasTensor& output() const { return output_; }
  Tensor call(const Tensor& input, const CallArgs&) override { return input; }

 private:
  KerasTensor output_;
};

}  // namespace rw::keras
