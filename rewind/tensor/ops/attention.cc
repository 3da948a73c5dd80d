// Attention and dropout.
#include <cmath>

#include "rewind/base/error.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/matmul.h"
#include "rewind/tensor/ops/nn.h"
#include "rewind/tensor/ops/random.h"

namespace rw::nn {
namespace {

constexpr const char* kAttention = "scaled_dot_product_attention";

// What a masked score is set to: small enough that its weight is 0, finite so that an all-masked row is no
// NaN.
Tensor masked_score(DType dtype) { return scalar_tensor(dtype == DType::kFloat16 ? -6.0e4 : -1.0e30, dtype); }

// True where a query may look at a key: on and below the diagonal.
Tensor causal_mask(int64_t queries, int64_t keys) {
  std::vector<uint8_t> mask(static_cast<size_t>(queries * keys));
  for (int64_t q = 0; q < queries; ++q)
    for (int64_t k = 0; k < keys; ++k) mask[size_t(q * keys + k)] = k <= q;
  return tensor_from_bytes(mask.data(), DType::kBool, {queries, keys});
}

Tensor hide(const Tensor& scores, const Tensor& visible) {
  const Tensor low = masked_score(scores.dtype());
  return apply_one(RW_OP("SelectV2"), {&visible, &scores, &low});
}

Tensor shape_tensor(const Tensor& x) {
  if (x.shape().fully_known()) return constant(std::vector<int32_t>(x.shape().begin(), x.shape().end()));
  return apply_one(RW_OP("Shape"), {&x}, {{"out_type", DType::kInt32}});
}

}  // namespace

Tensor scaled_dot_product_attention(const Operand& query, const Operand& key, const Operand& value,
                                    const AttentionOptions& options) {
  const std::vector<Tensor> t = unify({&query, &key, &value});
  const Tensor& q = t[0];
  const Tensor& k = t[1];
  if (q.rank() < 2 || k.rank() < 2 || t[2].rank() < 2)
    fail_invalid(kAttention, "query, key and value need at least two axes (positions, depth): query is " +
                                 q.shape().to_string() + ", key " + k.shape().to_string() + ", value " +
                                 t[2].shape().to_string());
  const int64_t depth = q.dim(-1);
  if (!options.scale && depth <= 0)
    fail_invalid(kAttention,
                 "the depth must be known for the default scale: query is " + q.shape().to_string());
  const double scale = options.scale ? *options.scale : 1.0 / std::sqrt(double(depth));
  Tensor scores = matmul(q * scale, k, {.transpose_b = true});
  if (options.mask.defined())
    scores = options.mask.dtype() == DType::kBool ? hide(scores, options.mask) : scores + options.mask;
  if (options.causal) {
    if (q.dim(-2) < 0 || k.dim(-2) < 0)
      fail_invalid(kAttention, "causal needs known numbers of positions: query is " + q.shape().to_string() +
                                   ", key " + k.shape().to_string());
    scores = hide(scores, causal_mask(q.dim(-2), k.dim(-2)));
  }
  Tensor weights = softmax(scores);
  if (options.dropout > 0) weights = dropout(weights, options.dropout);
  return matmul(weights, t[2]);
}

Tensor dropout(const Operand& x, double rate, const DropoutOptions& options) {
  const Tensor& t = x.tensor(DType::kFloat32);
  if (!is_floating(t.dtype()))
    fail_invalid("dropout", "the input must be floating: got " + std::string(name_of(t.dtype())));
  if (!(rate >= 0 && rate < 1))
    fail_invalid("dropout", "rate must be in [0, 1): got " + std::to_string(rate));
  if (rate == 0) return t;
  Tensor shape;
  if (options.noise_shape.empty()) {
    shape = shape_tensor(t);
  } else {
    // -1 stands for the input's own size.
    std::vector<int32_t> sizes;
    const int lead = t.rank() - int(options.noise_shape.size());
    for (size_t i = 0; i < options.noise_shape.size(); ++i) {
      const int64_t own = lead + int(i) >= 0 ? t.shape()[lead + int(i)] : 1;
      sizes.push_back(int32_t(options.noise_shape[i] < 0 ? own : options.noise_shape[i]));
    }
    shape = constant(sizes);
  }
  const Tensor noise = random::uniform(shape, {.dtype = t.dtype(), .seed = options.seed});
  const Tensor threshold = scalar_tensor(rate, t.dtype());
  const Tensor keep = apply_one(RW_OP("GreaterEqual"), {&noise, &threshold});
  const Tensor grown = t * (1.0 / (1.0 - rate));
  const Tensor zero = scalar_tensor(0.0, t.dtype());
  return apply_one(RW_OP("SelectV2"), {&keep, &grown, &zero});
}

}  // namespace rw::nn
