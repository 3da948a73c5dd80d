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
  const Shape& batch_shape() const { return batch_shape_; }
  KerasTensor output() const;
  Tensor call(const Tensor& input, const CallArgs& args) override;

 private:
  Shape batch_shape_;
  DType dtype_;
};

}  // namespace rw::keras
