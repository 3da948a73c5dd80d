// Sequential: layers one behind the other.
//   auto model = keras::Sequential({keras::Reshape({784}), keras::Dense(100, {.activation = "relu"}),
//                                   keras::Dense(10)});
// It is built when the shape of its input is known: by the first call, or from an Input in front.
#pragma once

#include "rewind/keras/model.h"

namespace rw::keras {

class Sequential : public LayerOf<Sequential, Model> {
 public:
  explicit Sequential(std::initializer_list<LayerRef> layers = {}, const LayerOptions& options = {});
  explicit Sequential(const std::vector<LayerRef>& layers, const LayerOptions& options = {});

  void add(const LayerRef& layer);
  void pop();
  std::vector<LayerRef> layers() const override;
  const FunctionalGraph* graph() const override;
  format::Json get_config() const override;

  void build(const Shape& input) override;
  std::vector<Tensor> call_many(const std::vector<Tensor>& inputs, const CallArgs& args) override;

 private:
  struct Chain;
  void rebuild();
  std::shared_ptr<Chain> chain_;
};

}  // namespace rw::keras
