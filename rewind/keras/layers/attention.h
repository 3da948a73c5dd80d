// MultiHeadAttention: inputs are query (batch, t, ...) and value (batch, s, ...), and key if it is not the
// value.
//   auto y = MultiHeadAttention(8, 64)({x, x}, {.use_causal_mask = true});
#pragma once

#include "rewind/keras/layer.h"

namespace rw::keras {

struct MultiHeadAttentionOptions {
  int64_t value_dim = 0;  // 0: key_dim
  double dropout = 0.0;
  bool use_bias = true;
  int64_t output_shape = 0;  // 0: the query's features
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {};
  Regularizer bias_regularizer = {};
  Regularizer activity_regularizer = {};
  Constraint kernel_constraint = {};
  Constraint bias_constraint = {};
  std::optional<int64_t> seed = {};
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};
};

// The result has the query's shape. With return_attention_scores the weights follow, (batch, heads, t, s).
class MultiHeadAttention : public LayerOf<MultiHeadAttention> {
 public:
  MultiHeadAttention(int64_t num_heads, int64_t key_dim, const MultiHeadAttentionOptions& options = {});
  void build_many(const std::vector<Shape>& inputs) override;
  std::vector<Tensor> call_many(const std::vector<Tensor>& inputs, const CallArgs& args) override;
  bool supports_masking() const override { return true; }
  format::Json get_config() const override;

 private:
  struct Projection {
    Variable kernel, bias;
  };
  Projection add_projection(const std::string& name, const Shape& kernel, const Shape& bias);
  Tensor project(const Tensor& x, const Projection& p) const;  // (batch, t, in) -> (batch, heads, t, dim)
  // Undefined: everything is seen. Broadcasts to (batch, heads, t, s).
  Tensor mask_for(const std::vector<Tensor>& inputs, const CallArgs& args) const;

  int64_t heads_, key_dim_;
  MultiHeadAttentionOptions options_;
  Projection query_, key_, value_, output_;
  SeedGenerator random_;
};

}  // namespace rw::keras
