// Model: layers that train together. Made from symbolic tensors (the functional API), or by a subclass with
// layers as members and a call() of its own.
//
//   keras::Model model(x, {y1, y2});
//
//   struct Net : keras::Model {
//     keras::Dense hidden{100, {.activation = "relu"}}, out{10};
//     rw::Tensor call(const rw::Tensor& x, const keras::CallArgs&) override { return out(hidden(x)); }
//     RW_TRACK(hidden, out)
//   };
#pragma once

#include <iosfwd>

#include "rewind/keras/layer_ref.h"

namespace rw::keras {

class FunctionalGraph;

struct SummaryOptions {
  int line_length = 0;  // 0: what fits the terminal, at most Keras' default
  bool expand_nested = false;
  bool show_trainable = false;
};

class Model : public Layer {
 public:
  explicit Model(const LayerOptions& options = {});
  Model(const KerasTensors& inputs, const KerasTensors& outputs, const LayerOptions& options = {});

  std::vector<Tensor> call_many(const std::vector<Tensor>& inputs, const CallArgs& args) override;
  bool supports_masking() const override { return true; }
  Tensor compute_mask(const std::vector<Tensor>& inputs, const std::vector<Tensor>& masks) override;
  std::shared_ptr<Layer> clone() const override;

  // The layers of the model, from inputs to outputs; of a subclass, its members.
  virtual std::vector<LayerRef> layers() const;
  // Throws NotFoundError.
  LayerRef get_layer(const std::string& name) const;
  // Of a functional model.
  std::vector<KerasTensor> inputs() const;
  std::vector<KerasTensor> outputs() const;

  // The table that Keras prints: to standard output, or as text.
  void summary(const SummaryOptions& options = {}) const;
  std::string summary_text(const SummaryOptions& options = {}) const;

  // For the library: null for subclasses and models that are not built.
  virtual const FunctionalGraph* graph() const { return graph_.get(); }

 protected:
  Model(std::string class_name, const LayerOptions& options);

 private:
  std::shared_ptr<const FunctionalGraph> graph_;
};

}  // namespace rw::keras
