// Layer: a step of a model with weights of its own, as keras.layers.Layer. A layer is a handle: copies are
// the same layer, with the same weights.
//
//   struct Scale : rw::keras::Layer {
//     rw::Variable factor;
//     void build(const rw::Shape& input) override {
//       factor = add_weight({.name = "factor", .shape = {input.back()}, .initializer = "ones"});
//     }
//     rw::Tensor call(const rw::Tensor& x, const rw::keras::CallArgs&) override { return x * factor; }
//   };
//
// Layers inside a layer are members, listed by RW_TRACK(first, second) in the order in which their weights
// come; a Variable listed there is a weight of the layer. What call() uses and RW_TRACK does not list, layers
// and trainable variables that no layer owns, is added behind them on the first call.
// A layer is built by its first call, also inside a function: initial values are computed outside the trace.
// Any number of threads may call a layer, the first call included: it is built once. Each thread has its own
// losses(). set_trainable() and what a subclass changes itself are for one thread, while no other calls.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rewind/base/dynamic_type.h"
#include "rewind/keras/constraints.h"
#include "rewind/keras/dtype_policy.h"
#include "rewind/keras/initializers.h"
#include "rewind/keras/input_spec.h"
#include "rewind/keras/layer_name.h"
#include "rewind/keras/regularizers.h"
#include "rewind/keras/seed_generator.h"
#include "rewind/module/module.h"

namespace rw::format {
class Json;
}

namespace rw::keras {

class KerasTensor;
class LayerRef;
class Model;
struct LayerState;

struct CallArgs {
  // Unset: that of the call around; outside false, and true for layers that change images at random.
  std::optional<bool> training = {};
  // Of the first input, true where it counts; unset: the one that the layers before have made.
  Tensor mask = {};
  // Of attention.
  Tensor attention_mask = {};
  bool use_causal_mask = false;
  bool return_attention_scores = false;
  // One an input, undefined where there is none: filled in for call().
  std::vector<Tensor> masks = {};

  bool is_training() const { return training.value_or(false); }
  Tensor mask_of(size_t input) const { return input < masks.size() ? masks[input] : Tensor(); }
};

struct LayerOptions {
  std::string name = {};  // empty: the class's, with a number
  bool trainable = true;
  DTypePolicy dtype = {};
};

struct WeightOptions {
  std::string name = {};
  Shape shape = {};
  Initializer initializer = {};  // glorot_uniform; zeros for integers
  DType dtype = DType::kInvalid;
  bool trainable = true;
  Regularizer regularizer = {};
  Constraint constraint = {};
};

class Layer : public Module {
 public:
  explicit Layer(const LayerOptions& options = {});
  Layer(const Layer& other);
  Layer(Layer&& other) noexcept;
  Layer& operator=(const Layer& other);
  ~Layer() override;

  // ---- for subclasses
  // Makes the weights, once, for inputs of this shape; sizes of batches are unknown or stand for any. The
  // second form is for layers with several inputs.
  virtual void build(const Shape& input) { (void)input; }
  virtual void build_many(const std::vector<Shape>& inputs);
  // The layer's function. The second form is for layers with several inputs or several results.
  virtual Tensor call(const Tensor& input, const CallArgs& args);
  virtual std::vector<Tensor> call_many(const std::vector<Tensor>& inputs, const CallArgs& args);
  // The mask of the result; undefined: none. Asked only of layers with supports_masking().
  virtual Tensor compute_mask(const std::vector<Tensor>& inputs, const std::vector<Tensor>& masks);
  virtual bool supports_masking() const { return false; }
  // Where neither the call nor one around it says whether it is training.
  virtual bool trains_unless_told() const { return false; }

  Variable add_weight(const WeightOptions& options);
  // For a layer that draws: its state is one of the layer's variables, and none of its weights.
  SeedGenerator add_seed_generator(std::optional<int64_t> seed) const;
  // A term of the model's loss. The outermost call of a model forgets those of the call before.
  void add_loss(const Tensor& loss);

  // ---- calls
  Tensor operator()(const Tensor& input, const CallArgs& args = {}) const;
  Tensor operator()(const std::vector<Tensor>& inputs, const CallArgs& args = {}) const;
  // All results of a layer that has several.
  std::vector<Tensor> all(const Tensor& input, const CallArgs& args = {}) const;
  std::vector<Tensor> all(const std::vector<Tensor>& inputs, const CallArgs& args = {}) const;
  // The functional API: the layer becomes a step of the graph that leads to the result.
  KerasTensor operator()(const KerasTensor& input, const CallArgs& args = {}) const;
  KerasTensor operator()(const std::vector<KerasTensor>& inputs, const CallArgs& args = {}) const;
  std::vector<KerasTensor> all(const KerasTensor& input, const CallArgs& args = {}) const;
  std::vector<KerasTensor> all(const std::vector<KerasTensor>& inputs, const CallArgs& args = {}) const;

  // ---- what it is
  const std::string& name() const;
  std::string class_name() const;
  bool built() const;
  bool trainable() const;
  void set_trainable(bool trainable) const;  // of this layer and all inside
  DType compute_dtype() const;
  DType variable_dtype() const;
  // Own weights, trainable ones first, then those of the layers inside; each once.
  std::vector<Variable> weights() const;
  std::vector<Variable> trainable_weights() const;
  std::vector<Variable> non_trainable_weights() const;
  // The weights, and the states of random layers.
  std::vector<Variable> variables() const;
  std::vector<Variable> trainable_variables() const { return trainable_weights(); }
  std::vector<Variable> non_trainable_variables() const;
  std::vector<Variable> random_states() const;
  std::vector<Tensor> get_weights() const;
  void set_weights(const std::vector<Tensor>& values) const;
  int64_t count_params() const;
  // Added by layers in this thread's last call, then the penalties of the weights' regularizers.
  std::vector<Tensor> losses() const;
  // Makes the weights without a call.
  void build_for(const Shape& input) const { build_for(std::vector<Shape>{input}); }
  void build_for(const std::vector<Shape>& inputs) const;

  // The name, whether it is trainable, the dtype policy and the options: what Keras' get_config gives. A
  // class of a program's own is registered first (saving.h), or overrides this.
  virtual format::Json get_config() const;

  // ---- for the library
  const std::shared_ptr<LayerState>& layer_state() const { return state_; }
  // A copy on the heap, of the same class; null where the class does not say how (see LayerOf).
  virtual std::shared_ptr<Layer> clone() const { return nullptr; }
  const Layer* as_layer() const override { return this; }
  TrackablePtr trackable() const override;
  // The model that this is, or nullptr.
  virtual const Model* as_model() const { return nullptr; }
  void visit_members(ChildCollector& collector) override;
  void visit_more(ChildCollector& collector) override;
  // Tells the state of layers and variables inside that are known now.
  void find_children() const;
  // Whether variables that call() reads become its weights; not those of functions from outside.
  virtual bool takes_what_it_reads() const { return true; }

 protected:
  Layer(std::string class_name, const LayerOptions& options);
  void set_input_spec(InputSpec spec) const;
  void set_activity_regularizer(const Regularizer& regularizer) const;
  // Keeps what the layer was made of, for get_config().
  void set_origin(std::shared_ptr<const Origin> origin) const;
  // Says that there is nothing to build.
  void set_built() const;
  // A weight in the type in which the layer computes.
  Tensor value_of(const Variable& weight) const;
  // This object's handle of a weight, or where another object of the layer built it, the layer's by its name.
  const Variable& weight_of(const Variable* own, const char* weight_name) const;

 private:
  friend class LayerCall;
  std::vector<Tensor> invoke(const std::vector<Tensor>& inputs, const CallArgs& args) const;
  std::vector<KerasTensor> invoke(const std::vector<KerasTensor>& inputs, const CallArgs& args) const;
  std::vector<Tensor> run(std::vector<Tensor> inputs, CallArgs args);
  std::vector<Tensor> first_call(const std::vector<Tensor>& inputs, const CallArgs& args);
  void build_here(const std::vector<Shape>& shapes);

  std::shared_ptr<LayerState> state_;
  // This object has its variables: a copy that was made before has not.
  std::atomic<bool> built_here_{false};
  size_t next_weight_ = 0;  // of a build that finds the weights there
};

// The base of layers that tell their class: they are named when they are made, and a temporary can be called
// on a KerasTensor.
//   struct Scale : rw::keras::LayerOf<Scale> { ... };
template <class D, class Base = Layer>
class LayerOf : public Base {
 public:
  std::shared_ptr<Layer> clone() const override {
    // A class derived from D is more than D.
    const Layer& mine = *this;
    std::shared_ptr<Layer> copy(static_cast<Layer*>(new D(static_cast<const D&>(*this))));
    return same_class(mine, *copy) ? copy : nullptr;
  }

 private:
  friend D;
  explicit LayerOf(const LayerOptions& options = {}) : Base(class_name_in(class_signature<D>()), options) {}
  LayerOf(std::string class_name, const LayerOptions& options) : Base(std::move(class_name), options) {}
};

// The options that all layers share.
template <class O>
LayerOptions layer_options(const O& o) {
  return {.name = o.name, .trainable = o.trainable, .dtype = o.dtype};
}

// Checkpoints that were restored before give the layer's new weights their values.
void tell_new_children(const Layer& layer);

// "dense/kernel" and "kernel" of a weight named "dense/kernel:0".
std::string weight_path(const Variable& weight);
std::string weight_name(const Variable& weight);

}  // namespace rw::keras

#include "rewind/keras/keras_tensor.h"
