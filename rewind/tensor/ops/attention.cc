// Attention and dropout.
#include <cmath>

#include "rewind/base/error.h"
#include "rewind/base/number_text.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/matmul.h"
#include "rewind/tensor/ops/nn.h"
#include "rewind/tensor/ops/random.h"
#include "rewind/tensor/sizes.h"

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

// The same for numbers of positions that a trace does not know.
Tensor causal_mask(const Size& queries, const Size& keys) {
  if (queries.known() && keys.known()) return causal_mask(queries.number(), keys.number());
  const Tensor rows = reshape_sizes(numbers_below(queries), {queries, 1});
  const Tensor columns = numbers_below(keys);
  return apply_one(RW_OP("GreaterEqual"), {&rows, &columns});
}

// 1 / sqrt(depth)
Tensor default_scale(const Size& depth, DType dtype) {
  if (depth.known()) return scalar_tensor(1.0 / std::sqrt(double(depth.number())), dtype);
  const Tensor number = depth.tensor();
  const Tensor real = apply_one(RW_OP("Cast"), {&number}, {{"DstT", dtype}});
  return apply_one(RW_OP("Rsqrt"), {&real});
}

Tensor hide(const Tensor& scores, const Tensor& visible) {
  const Tensor low = masked_score(scores.dtype());
  return apply_one(RW_OP("SelectV2"), {&visible, &scores, &low});
}

}  // namespace

Tensor scaled_dot_product_attention(const Operand& query, const Operand& key, const Operand& value,
                                    const AttentionOptions& options) {
  const std::vector<Tensor> t = unify({&query, &key, &value});
  const Tensor& q = t[0];
  const Tensor& k = t[1];
  const auto flat = [](const Tensor& x) { return x.shape().has_rank() && x.rank() < 2; };
  if (flat(q) || flat(k) || flat(t[2]))
    fail_invalid(kAttention, "query, key and value need at least two axes (positions, depth): query is " +
                                 q.shape().to_string() + ", key " + k.shape().to_string() + ", value " +
                                 t[2].shape().to_string());
  const Tensor scale =
      options.scale ? scalar_tensor(*options.scale, q.dtype()) : default_scale(sizes_of(q).back(), q.dtype());
  Tensor scores = matmul(q, k, {.transpose_b = true}) * scale;
  if (options.mask.defined())
    scores = options.mask.dtype() == DType::kBool ? hide(scores, options.mask) : scores + options.mask;
  if (options.causal) {
    const Sizes queries = sizes_of(q), keys = sizes_of(k);
    scores = hide(scores, causal_mask(queries[queries.size() - 2], keys[keys.size() - 2]));
  }
  Tensor weights = softmax(scores);
  if (options.dropout > 0) weights = dropout(weights, options.dropout);
  return matmul(weights, t[2]);
}

Tensor dropout(const Operand& x, double rate, const DropoutOptions& options) {
  const Tensor& t = x.tensor(DType::kFloat32);
  if (!is_floating(t.dtype()))
    fail_invalid("dropout", "the input must be floating: got " + std::string(name_of(t.dtype())));
  if (!(rate >= 0 && rate < 1)) fail_invalid("dropout", "rate must be in [0, 1): got " + number_text(rate));
  if (rate == 0) return t;
  Tensor shape;
  if (options.noise_shape.empty()) {
    shape = dims_tensor(t, DType::kInt32);
  } else {
    // -1 stands for the input's own size.
    const Sizes all = sizes_of(t);
    Sizes sizes;
    const int lead = t.rank() - int(options.noise_shape.size());
    for (size_t i = 0; i < options.noise_shape.size(); ++i) {
      const int at = lead + int(i);
      const Size own = at >= 0 ? all[size_t(at)] : Size(1);
      sizes.push_back(options.noise_shape[i] < 0 ? own : Size(options.noise_shape[i]));
    }
    shape = dims_tensor(sizes, DType::kInt32);
  }
  const Tensor noise = random::uniform(shape, {.dtype = t.dtype(), .seed = options.seed});
  const Tensor threshold = scalar_tensor(rate, t.dtype());
  const Tensor keep = apply_one(RW_OP("GreaterEqual"), {&noise, &threshold});
  const Tensor grown = t * (1.0 / (1.0 - rate));
  const Tensor zero = scalar_tensor(0.0, t.dtype());
  return apply_one(RW_OP("SelectV2"), {&keep, &grown, &zero});
}

}  // namespace rw::nn
