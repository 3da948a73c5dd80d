// Neural network functions: softmax, losses, biases, normalisation, dropout, attention. What TensorFlow
// composes of other ops is composed here in the same way.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rewind/tensor/operand.h"
#include "rewind/tensor/ops/reduce.h"

namespace rw::nn {

Tensor softmax(const Operand& logits, int axis = -1);
Tensor log_softmax(const Operand& logits, int axis = -1);
// The loss has the logits' shape without `axis`. Gradients flow to the labels too, as in TensorFlow 2.
Tensor softmax_cross_entropy_with_logits(const Operand& labels, const Operand& logits, int axis = -1);
// Labels are class numbers, of the logits' shape without the last axis.
Tensor sparse_softmax_cross_entropy_with_logits(const Operand& labels, const Operand& logits);
// Element by element, for classes that do not exclude each other.
Tensor sigmoid_cross_entropy_with_logits(const Operand& labels, const Operand& logits);
Tensor weighted_cross_entropy_with_logits(const Operand& labels, const Operand& logits,
                                          const Operand& pos_weight);
// exp(log_input) - log_input * targets, plus Stirling's approximation of the rest if the full loss is asked
// for.
Tensor log_poisson_loss(const Operand& targets, const Operand& log_input, bool compute_full_loss = false);
Tensor l2_loss(const Operand& t);  // sum(t^2) / 2

Tensor bias_add(const Operand& value, const Operand& bias, const std::string& data_format = "");

// x / sqrt(max(sum(x^2), epsilon)).
Tensor l2_normalize(const Operand& x, const Axes& axis = {}, double epsilon = 1e-12);
// (x - mean) / sqrt(variance + epsilon) * scale + offset; scale and offset may be undefined tensors.
Tensor batch_normalization(const Operand& x, const Operand& mean, const Operand& variance,
                           const Tensor& offset, const Tensor& scale, double variance_epsilon);

struct FusedBatchNormOptions {
  Tensor mean = {};  // of the population; needed when not training
  Tensor variance = {};
  double epsilon = 0.001;
  std::string data_format = "NHWC";
  bool is_training = true;
  double exponential_avg_factor = 1.0;
};
struct FusedBatchNorm {
  Tensor y, batch_mean, batch_variance;
};
FusedBatchNorm fused_batch_norm(const Operand& x, const Operand& scale, const Operand& offset,
                                const FusedBatchNormOptions& options = {});

struct LayerNormalizationOptions {
  std::vector<int64_t> axis = {-1};
  double epsilon = 0.001;
};
// Over each example's own axes; gamma and beta (of those axes' shape) may be undefined tensors.
Tensor layer_normalization(const Operand& x, const Tensor& gamma, const Tensor& beta,
                           const LayerNormalizationOptions& options = {});

struct LrnOptions {
  int64_t depth_radius = 5;
  double bias = 1.0;
  double alpha = 1.0;
  double beta = 0.5;
};
Tensor local_response_normalization(const Operand& input, const LrnOptions& options = {});
inline Tensor lrn(const Operand& input, const LrnOptions& options = {}) {
  return local_response_normalization(input, options);
}

struct AttentionOptions {
  Tensor mask =
      {};  // bool (true: look at it) or a number that is added to the scores; broadcasts to (..., q, k)
  bool causal = false;               // position i looks at 0..i
  std::optional<double> scale = {};  // 1 / sqrt(depth)
  double dropout = 0.0;
};
// softmax(scale * query key^T + mask) value. query (..., q, depth), key (..., k, depth), value (..., k,
// width).
Tensor scaled_dot_product_attention(const Operand& query, const Operand& key, const Operand& value,
                                    const AttentionOptions& options = {});

struct DropoutOptions {
  std::vector<int64_t> noise_shape = {};  // of the random mask, which broadcasts; empty: the input's shape
  std::optional<int64_t> seed = {};
};
// Elements become 0 with probability `rate`; the others grow so that the expected sum stays.
Tensor dropout(const Operand& x, double rate, const DropoutOptions& options = {});

}  // namespace rw::nn
