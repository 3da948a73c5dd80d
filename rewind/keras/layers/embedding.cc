#include "rewind/keras/layers/embedding.h"

#include "rewind/keras/registry.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/gather.h"
#include "rewind/tensor/ops/reduce.h"
#include "rewind/tensor/ops/unary.h"

namespace rw::keras {
namespace {

struct EmbeddingArguments {
  using Made = Embedding;
  int64_t input_dim = 0, output_dim = 0;
  EmbeddingOptions options = {};
  Embedding make() const { return Embedding(input_dim, output_dim, options); }
};
void fields(ConfigFields& f, EmbeddingArguments& a) {
  f("input_dim", a.input_dim);
  f("output_dim", a.output_dim);
  f("embeddings_initializer", a.options.embeddings_initializer);
  f("embeddings_regularizer", a.options.embeddings_regularizer);
  f.only("activity_regularizer", nullptr);
  f("embeddings_constraint", a.options.embeddings_constraint);
  f("mask_zero", a.options.mask_zero);
  f.only("quantization_config", nullptr);
  f.ignore("input_length");
}

struct MaskingArguments {
  using Made = Masking;
  MaskingOptions options = {};
  Masking make() const { return Masking(options); }
};
void fields(ConfigFields& f, MaskingArguments& a) { f("mask_value", a.options.mask_value); }

}  // namespace

void add_embedding_classes(ClassRegistry& r) {
  add_class<EmbeddingArguments>(r.layers);
  add_class<MaskingArguments>(r.layers);
}

Embedding::Embedding(int64_t input_dim, int64_t output_dim, const EmbeddingOptions& options)
    : LayerOf(layer_options(options)), input_dim_(input_dim), output_dim_(output_dim), options_(options) {
  set_origin(origin_of(EmbeddingArguments{input_dim, output_dim, options}));
}

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
  set_origin(origin_of(MaskingArguments{options}));
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
