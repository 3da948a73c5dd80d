#include "rewind/keras/layers/embedding.h"

#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/gather.h"
#include "rewind/tensor/ops/reduce.h"
#include "rewind/tensor/ops/unary.h"

namespace rw::keras {

Embedding::Embedding(int64_t input_dim, int64_t output_dim, const EmbeddingOptions& options)
    : LayerOf(layer_options(options)), input_dim_(input_dim), output_dim_(output_dim), options_(options) {}

void Embedding::build(const Shape&) {
  embeddings_ = add_weight({.name = "embeddings",
                            .shape = {input_dim_, output_dim_},
                            .initializer = options_.embeddings_initializer,
                            .regularizer = options_.embeddings_regularizer,
                            .constraint = options_.embeddings_constraint});
}

Tensor Embedding::call(const Tensor& x, const CallArgs&) {
  const Tensor ids = is_integer(x.dtype()) ? x : cast(x, DType::kInt32);
  const Tensor rows = nn::embedding_lookup(embeddings_, ids);
  return rows.dtype() == compute_dtype() ? rows : cast(rows, compute_dtype());
}

Tensor Embedding::compute_mask(const std::vector<Tensor>& inputs, const std::vector<Tensor>&) {
  return options_.mask_zero ? not_equal(inputs[0], 0) : Tensor();
}

Masking::Masking(const MaskingOptions& options)
    : LayerOf(layer_options(options)), mask_value_(options.mask_value) {
  set_built();
}

Tensor Masking::call(const Tensor& x, const CallArgs&) {
  const Tensor kept = reduce_any(not_equal(x, mask_value_), -1, true);
  return x * cast(kept, x.dtype());
}

Tensor Masking::compute_mask(const std::vector<Tensor>& inputs, const std::vector<Tensor>&) {
  return reduce_any(not_equal(inputs[0], mask_value_), -1);
}

}  // namespace rw::keras
