// Layers around a layer: Bidirectional, TimeDistributed; and Lambda, around a function.
#pragma once

#include <functional>

#include "rewind/keras/layer_ref.h"
#include "rewind/keras/layers/rnn.h"

namespace rw::keras {

struct BidirectionalOptions {
  std::string merge_mode = "concat";  // "sum", "mul", "ave"; "none": both results
  LayerRef backward_layer = {};       // one that reads from the end (go_backwards); empty: like the first
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};
};
// A recurrent layer and another like it that reads from the end.
class Bidirectional : public LayerOf<Bidirectional> {
 public:
  template <class L>
    requires std::derived_from<L, detail::RnnLayer>
  explicit Bidirectional(const L& layer, const BidirectionalOptions& options = {})
      : Bidirectional(static_cast<const detail::RnnLayer&>(layer), options) {}
  Bidirectional(const detail::RnnLayer& layer, const BidirectionalOptions& options);
  void build_many(const std::vector<Shape>& inputs) override;
  std::vector<Tensor> call_many(const std::vector<Tensor>& inputs, const CallArgs& args) override;
  bool supports_masking() const override { return true; }
  Tensor compute_mask(const std::vector<Tensor>&, const std::vector<Tensor>& masks) override;

 private:
  LayerRef forward_, backward_;
  std::string merge_mode_;
  bool sequences_, state_;
};

// The layer applied to every step: (batch, time, ...) -> (batch, time, ...). All steps go through it at once,
// as one batch.
class TimeDistributed : public LayerOf<TimeDistributed> {
 public:
  explicit TimeDistributed(const LayerRef& layer, const LayerOptions& options = {});
  void build(const Shape& input) override;
  Tensor call(const Tensor& x, const CallArgs& args) override;
  bool supports_masking() const override { return true; }

 private:
  LayerRef layer_;
};

struct LambdaOptions {
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};
};
// Any function of one tensor, or of a list of them. Its result has no mask. A model's config can hold one
// that has a name: keras::Activation("relu"), or one that was registered (saving.h).
class Lambda : public LayerOf<Lambda> {
 public:
  using Function = std::function<Tensor(const std::vector<Tensor>&)>;
  template <class F>
    requires std::is_invocable_r_v<Tensor, F, const Tensor&>
  explicit Lambda(F f, const LambdaOptions& options = {})
      : Lambda(Function([f](const std::vector<Tensor>& x) { return f(x.at(0)); }), options) {}
  explicit Lambda(Function f, const LambdaOptions& options = {});
  explicit Lambda(const Activation& f, const LambdaOptions& options = {});
  std::vector<Tensor> call_many(const std::vector<Tensor>& inputs, const CallArgs&) override {
    return {f_(inputs)};
  }
  bool takes_what_it_reads() const override { return false; }

 private:
  Function f_;
};

}  // namespace rw::keras
