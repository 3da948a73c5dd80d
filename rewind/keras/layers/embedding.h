// Embedding: rows of a table by their numbers. Masking: which steps of a sequence count.
#pragma once

#include "rewind/keras/layer.h"

namespace rw::keras {

struct EmbeddingOptions {
  Initializer embeddings_initializer = "uniform";
  Regularizer embeddings_regularizer = {};
  Constraint embeddings_constraint = {};
  bool mask_zero = false;  // number 0 is padding, which later layers leave out
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};
};
// (batch, ...) of integers -> (batch, ..., output_dim).
class Embedding : public LayerOf<Embedding> {
 public:
  Embedding(int64_t input_dim, int64_t output_dim, const EmbeddingOptions& options = {});
  void build(const Shape& input) override;
  Tensor call(const Tensor& x, const CallArgs&) override;
  bool supports_masking() const override { return options_.mask_zero; }
  Tensor compute_mask(const std::vector<Tensor>& inputs, const std::vector<Tensor>&) override;

  const Variable& embeddings() const { return weight_of(&embeddings_, "embeddings"); }

 private:
  int64_t input_dim_, output_dim_;
  EmbeddingOptions options_;
  Variable embeddings_;  // (input_dim, output_dim)
};

struct MaskingOptions {
  double mask_value = 0.0;
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};
};
// Steps of which all features have this value do not count.
class Masking : public LayerOf<Masking> {
 public:
  explicit Masking(const MaskingOptions& options = {});
  Tensor call(const Tensor& x, const CallArgs&) override;
  bool supports_masking() const override { return true; }
  Tensor compute_mask(const std::vector<Tensor>& inputs, const std::vector<Tensor>&) override;

 private:
  double mask_value_;
};

}  // namespace rw::keras
