// Recurrent layers: SimpleRNN, LSTM, GRU. x (batch, time, features) -> (batch, units), or with
// return_sequences (batch, time, units). With return_state the last states follow as further results.
//   LSTM(64, {.return_sequences = true})
// Further inputs behind x are the initial states. A masked step keeps the states as they are.
#pragma once

#include "rewind/keras/activations.h"
#include "rewind/keras/layer.h"
#include "rewind/keras/layer_ref.h"

namespace rw::keras {

// The fields that they share.
#define RW_KERAS_RNN_OPTIONS                                                                     \
  bool use_bias = true;                                                                          \
  Initializer kernel_initializer = "glorot_uniform";                                             \
  Initializer recurrent_initializer = "orthogonal";                                              \
  Initializer bias_initializer = "zeros";                                                        \
  Regularizer kernel_regularizer = {};                                                           \
  Regularizer recurrent_regularizer = {};                                                        \
  Regularizer bias_regularizer = {};                                                             \
  Regularizer activity_regularizer = {};                                                         \
  Constraint kernel_constraint = {};                                                             \
  Constraint recurrent_constraint = {};                                                          \
  Constraint bias_constraint = {};                                                               \
  double dropout = 0.0;           /* of the inputs */                                            \
  double recurrent_dropout = 0.0; /* of the state; masks are then drawn for each gate */         \
  std::optional<int64_t> seed = {};                                                              \
  bool return_sequences = false;                                                                 \
  bool return_state = false;                                                                     \
  bool go_backwards = false;                                                                     \
  bool stateful = false; /* a call begins where the one before ended; batches are of one size */ \
  bool unroll = false;                                                                           \
  bool zero_output_for_mask = false; /* else a masked step repeats the result before */          \
  std::string name = {};                                                                         \
  bool trainable = true;                                                                         \
  DTypePolicy dtype = {};

struct SimpleRNNOptions {
  Activation activation = "tanh";
  RW_KERAS_RNN_OPTIONS
};
struct LSTMOptions {
  Activation activation = "tanh";
  Activation recurrent_activation = "sigmoid";
  bool unit_forget_bias = true;
  RW_KERAS_RNN_OPTIONS
};
struct GRUOptions {
  Activation activation = "tanh";
  Activation recurrent_activation = "sigmoid";
  bool reset_after = true;
  RW_KERAS_RNN_OPTIONS
};

namespace detail {

struct RnnSettings {
  RW_KERAS_RNN_OPTIONS
};

// The loop over time. A subclass says what a step does.
class RnnLayer : public Layer {
 public:
  void build_many(const std::vector<Shape>& inputs) override;
  std::vector<Tensor> call_many(const std::vector<Tensor>& inputs, const CallArgs& args) override;
  bool supports_masking() const override { return true; }
  Tensor compute_mask(const std::vector<Tensor>&, const std::vector<Tensor>& masks) override;

  bool return_sequences() const { return settings_.return_sequences; }
  bool return_state() const { return settings_.return_state; }
  bool goes_backwards() const { return settings_.go_backwards; }
  // Of a stateful layer: the next call begins with zeros.
  void reset_state() const;
  // A layer with the same settings, weights of its own and this name, that runs the other way round or not.
  virtual LayerRef fresh(const std::string& name, bool turned) const = 0;

 protected:
  RnnLayer(std::string class_name, const LayerOptions& options) : Layer(std::move(class_name), options) {}
  template <class O>
  void set(const char* layer, const char* cell, int64_t units, int64_t gates, size_t states, const O& o);

  struct Weights {
    Tensor kernel, recurrent, bias;
    std::vector<Tensor> gates;  // parts of `recurrent`, where by_gate() or recurrent dropout wants them
    std::vector<Tensor> noise;  // with recurrent dropout: what the state is multiplied by, for each gate
  };
  // The state's part of all gates, (batch, gates * units), or of one.
  Tensor through(const Tensor& h, const Weights& w) const;
  Tensor through(const Tensor& h, const Weights& w, size_t gate) const;
  // One step: `z` is x kernel (+ input bias) for all gates, (batch, gates * units). Gives the new states, of
  // which the first is the result.
  virtual std::vector<Tensor> step(const Tensor& z, const std::vector<Tensor>& states,
                                   const Weights& w) const = 0;
  // Whether a step takes the state through one gate at a time.
  virtual bool by_gate() const { return false; }
  virtual Shape bias_shape() const { return {gates_ * units_}; }
  virtual Initializer bias_initializer() const { return settings_.bias_initializer; }
  // What is added to x kernel for all steps at once.
  virtual Tensor input_bias(const Weights& w) const { return w.bias; }

  // The states that a stateful layer keeps, made for batches of this size.
  const std::vector<Variable>& kept_states(int64_t batch, DType dtype) const;

  std::shared_ptr<std::vector<Variable>> kept_;  // of all copies of a stateful layer
  int64_t units_ = 0, gates_ = 1;
  size_t states_ = 1;
  RnnSettings settings_;
  SeedGenerator random_;
  std::string cell_;
  Variable kernel_, recurrent_kernel_, bias_;
};

}  // namespace detail

class SimpleRNN : public LayerOf<SimpleRNN, detail::RnnLayer> {
 public:
  explicit SimpleRNN(int64_t units, const SimpleRNNOptions& options = {});
  LayerRef fresh(const std::string& name, bool turned) const override;

 protected:
  std::vector<Tensor> step(const Tensor& z, const std::vector<Tensor>& states,
                           const Weights& w) const override;

 private:
  SimpleRNNOptions options_;
};

class LSTM : public LayerOf<LSTM, detail::RnnLayer> {
 public:
  explicit LSTM(int64_t units, const LSTMOptions& options = {});
  LayerRef fresh(const std::string& name, bool turned) const override;

 protected:
  std::vector<Tensor> step(const Tensor& z, const std::vector<Tensor>& states,
                           const Weights& w) const override;
  Initializer bias_initializer() const override;

 private:
  LSTMOptions options_;
};

class GRU : public LayerOf<GRU, detail::RnnLayer> {
 public:
  explicit GRU(int64_t units, const GRUOptions& options = {});
  LayerRef fresh(const std::string& name, bool turned) const override;

 protected:
  std::vector<Tensor> step(const Tensor& z, const std::vector<Tensor>& states,
                           const Weights& w) const override;
  bool by_gate() const override { return !options_.reset_after; }
  Shape bias_shape() const override;
  Tensor input_bias(const Weights& w) const override;

 private:
  GRUOptions options_;
};

}  // namespace rw::keras
