// Activations, with Keras' names, defaults and arithmetic. An Activation is a small value: by name, one of
// the functions below, or any callable Tensor -> Tensor. An empty one is the identity.
//   Dense(10, {.activation = "relu"})
//   Dense(10, {.activation = [](const rw::Tensor& x) { return keras::activations::leaky_relu(x, 0.3); }})
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

#include "rewind/keras/origin.h"
#include "rewind/tensor/operand.h"

namespace rw::keras {

class Activation : public WithOrigin {
 public:
  using Call = std::function<Tensor(const Tensor&)>;

  Activation() = default;               // none: the identity
  Activation(std::nullptr_t) {}         // NOLINT: written as they are
  Activation(const char* name);         // NOLINT
  Activation(const std::string& name);  // NOLINT
  template <class F>
    requires(std::is_invocable_r_v<Tensor, const F&, const Tensor&> && !std::is_convertible_v<F, std::string>)
  Activation(F f) : Activation("custom", Call(std::move(f))) {}  // NOLINT
  Activation(std::string name, Call call)
      : state_(std::make_shared<State>(State{std::move(name), std::move(call)})) {}

  bool defined() const { return state_ != nullptr; }
  explicit operator bool() const { return defined(); }
  const std::string& name() const;  // "linear" when empty
  Tensor operator()(const Tensor& x) const { return state_ ? state_->call(x) : x; }

 private:
  struct State {
    std::string name;
    Call call;
  };
  std::shared_ptr<const State> state_;
};

namespace activations {

struct ReluOptions {
  double negative_slope = 0.0;
  std::optional<double> max_value = {};
  double threshold = 0.0;
};
Tensor relu(const Operand& x, const ReluOptions& options = {});
Tensor leaky_relu(const Operand& x, double negative_slope = 0.2);
Tensor relu6(const Operand& x);
Tensor softmax(const Operand& x, int axis = -1);
Tensor log_softmax(const Operand& x, int axis = -1);
Tensor sparsemax(const Operand& x, int axis = -1);
Tensor elu(const Operand& x, double alpha = 1.0);
Tensor selu(const Operand& x);
Tensor celu(const Operand& x, double alpha = 1.0);
Tensor softplus(const Operand& x);
Tensor softsign(const Operand& x);
Tensor squareplus(const Operand& x, double b = 4.0);
Tensor soft_shrink(const Operand& x, double threshold = 0.5);
Tensor hard_shrink(const Operand& x, double threshold = 0.5);
Tensor sparse_plus(const Operand& x);
Tensor silu(const Operand& x);
Tensor swish(const Operand& x);
Tensor gelu(const Operand& x, bool approximate = false);
Tensor glu(const Operand& x, int axis = -1);
Tensor tanh(const Operand& x);
Tensor tanh_shrink(const Operand& x);
Tensor hard_tanh(const Operand& x);
Tensor threshold(const Operand& x, double threshold, double default_value);
Tensor sigmoid(const Operand& x);
Tensor log_sigmoid(const Operand& x);
Tensor sparse_sigmoid(const Operand& x);
Tensor hard_sigmoid(const Operand& x);
Tensor hard_silu(const Operand& x);
Tensor hard_swish(const Operand& x);
Tensor exponential(const Operand& x);
Tensor linear(const Operand& x);
Tensor mish(const Operand& x);

// By Keras' name; throws InvalidArgumentError for others.
Activation get(const std::string& name);

// What a softmax or sigmoid above was taken of, while its result lives: losses work on it, as Keras' do, so
// that small probabilities keep their gradients. Undefined when it is not known.
Tensor logits_of(const Tensor& output);

}  // namespace activations
}  // namespace rw::keras
