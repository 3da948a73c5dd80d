// Activations as layers: Activation (ActivationLayer in C++, as Activation is the function itself), ReLU,
// LeakyReLU, ELU, Softmax, PReLU.
#pragma once

#include "rewind/keras/activations.h"
#include "rewind/keras/layer.h"

namespace rw::keras {

// keras.layers.Activation; also keras::layers::Activation. In a list of layers the function itself will do:
// Sequential({Dense(10), Activation("relu")}).
class ActivationLayer : public LayerOf<ActivationLayer> {
 public:
  explicit ActivationLayer(Activation activation, const LayerOptions& options = {});
  Tensor call(const Tensor& x, const CallArgs&) override { return activation_(x); }
  bool supports_masking() const override { return true; }

 private:
  Activation activation_;
};

namespace layers {
using Activation = ActivationLayer;
}  // namespace layers

struct ReLUOptions {
  std::optional<double> max_value = {};
  double negative_slope = 0.0;
  double threshold = 0.0;
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};
};
class ReLU : public LayerOf<ReLU> {
 public:
  explicit ReLU(const ReLUOptions& options = {});
  Tensor call(const Tensor& x, const CallArgs&) override;
  bool supports_masking() const override { return true; }

 private:
  ReLUOptions options_;
};

struct LeakyReLUOptions {
  double negative_slope = 0.3;
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};
};
class LeakyReLU : public LayerOf<LeakyReLU> {
 public:
  explicit LeakyReLU(const LeakyReLUOptions& options = {});
  Tensor call(const Tensor& x, const CallArgs&) override;
  bool supports_masking() const override { return true; }

 private:
  LeakyReLUOptions options_;
};

struct ELUOptions {
  double alpha = 1.0;
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};
};
class ELU : public LayerOf<ELU> {
 public:
  explicit ELU(const ELUOptions& options = {});
  Tensor call(const Tensor& x, const CallArgs&) override;
  bool supports_masking() const override { return true; }

 private:
  ELUOptions options_;
};

struct SoftmaxOptions {
  std::vector<int> axis = {-1};
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};
};
// Places where the mask is false get (nearly) no weight.
class Softmax : public LayerOf<Softmax> {
 public:
  explicit Softmax(const SoftmaxOptions& options = {});
  Tensor call(const Tensor& x, const CallArgs& args) override;
  bool supports_masking() const override { return true; }

 private:
  SoftmaxOptions options_;
};

struct PReLUOptions {
  Initializer alpha_initializer = "zeros";
  Regularizer alpha_regularizer = {};
  Constraint alpha_constraint = {};
  std::vector<int> shared_axes = {};  // axes along which one slope serves all
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};
};
// relu(x) - alpha relu(-x), with a slope to learn for each place.
class PReLU : public LayerOf<PReLU> {
 public:
  explicit PReLU(const PReLUOptions& options = {});
  void build(const Shape& input) override;
  Tensor call(const Tensor& x, const CallArgs&) override;
  bool supports_masking() const override { return true; }

 private:
  PReLUOptions options_;
  Variable alpha_;
};

}  // namespace rw::keras
