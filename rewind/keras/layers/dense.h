// Dense: activation(x kernel + bias), along the last axis. x (..., in) -> (..., units).
#pragma once

#include "rewind/keras/activations.h"
#include "rewind/keras/layer.h"

namespace rw::keras {

struct DenseOptions {
  Activation activation = {};
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {};
  Regularizer bias_regularizer = {};
  Regularizer activity_regularizer = {};
  Constraint kernel_constraint = {};
  Constraint bias_constraint = {};
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};
};

class Dense : public LayerOf<Dense> {
 public:
  explicit Dense(int64_t units, const DenseOptions& options = {});
  void build(const Shape& input) override;
  Tensor call(const Tensor& x, const CallArgs&) override;
  bool supports_masking() const override { return true; }

  const Variable& kernel() const { return weight_of(&kernel_, "kernel"); }
  const Variable& bias() const { return weight_of(&bias_, "bias"); }

 private:
  int64_t units_;
  DenseOptions options_;
  Variable kernel_;  // (in, units)
  Variable bias_;    // (units)
};

}  // namespace rw::keras
