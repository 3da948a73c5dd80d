// BatchNormalization, LayerNormalization, GroupNormalization. All compute in float32 at least.
#pragma once

#include "rewind/keras/layer.h"

namespace rw::keras {

struct BatchNormalizationOptions {
  int axis = -1;
  double momentum = 0.99;
  double epsilon = 1e-3;
  bool center = true;
  bool scale = true;
  Initializer beta_initializer = "zeros";
  Initializer gamma_initializer = "ones";
  Initializer moving_mean_initializer = "zeros";
  Initializer moving_variance_initializer = "ones";
  Regularizer beta_regularizer = {};
  Regularizer gamma_regularizer = {};
  Constraint beta_constraint = {};
  Constraint gamma_constraint = {};
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};
};

// (x - mean) / sqrt(variance + epsilon) * gamma + beta, for each channel. In training the statistics are the
// batch's, and moving averages of them are kept; otherwise, and when the layer is frozen, the averages serve.
class BatchNormalization : public LayerOf<BatchNormalization> {
 public:
  explicit BatchNormalization(const BatchNormalizationOptions& options = {});
  void build(const Shape& input) override;
  Tensor call(const Tensor& x, const CallArgs& args) override;
  bool supports_masking() const override { return true; }

 private:
  BatchNormalizationOptions options_;
  Variable gamma_, beta_, moving_mean_, moving_variance_;  // (channels)
};

struct LayerNormalizationOptions {
  std::vector<int> axis = {-1};
  double epsilon = 1e-3;
  bool center = true;
  bool scale = true;
  Initializer beta_initializer = "zeros";
  Initializer gamma_initializer = "ones";
  Regularizer beta_regularizer = {};
  Regularizer gamma_regularizer = {};
  Constraint beta_constraint = {};
  Constraint gamma_constraint = {};
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};
};

// The same over each example's own axes.
class LayerNormalization : public LayerOf<LayerNormalization> {
 public:
  explicit LayerNormalization(const LayerNormalizationOptions& options = {});
  format::Json get_config() const override;
  void build(const Shape& input) override;
  Tensor call(const Tensor& x, const CallArgs&) override;
  bool supports_masking() const override { return true; }

 private:
  LayerNormalizationOptions options_;
  Variable gamma_, beta_;  // sizes of the axes
};

struct GroupNormalizationOptions {
  int64_t groups = 32;  // -1: each channel by itself
  int axis = -1;
  double epsilon = 1e-3;
  bool center = true;
  bool scale = true;
  Initializer beta_initializer = "zeros";
  Initializer gamma_initializer = "ones";
  Regularizer beta_regularizer = {};
  Regularizer gamma_regularizer = {};
  Constraint beta_constraint = {};
  Constraint gamma_constraint = {};
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};
};

// The same over groups of an example's channels and all its places.
class GroupNormalization : public LayerOf<GroupNormalization> {
 public:
  explicit GroupNormalization(const GroupNormalizationOptions& options = {});
  void build(const Shape& input) override;
  Tensor call(const Tensor& x, const CallArgs&) override;
  bool supports_masking() const override { return true; }

 private:
  GroupNormalizationOptions options_;
  int64_t groups_ = 0;
  Variable gamma_, beta_;  // (channels)
};

}  // namespace rw::keras
