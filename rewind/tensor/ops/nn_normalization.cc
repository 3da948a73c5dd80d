// Normalisation: composed, as in TensorFlow, but for the fused batch normalisation and LRN.
#include "rewind/base/error.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/op_calls.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/nn.h"

namespace rw::nn {
namespace {

// (x - mean) / sqrt(variance + epsilon) * scale + offset as one product and one sum per element.
Tensor normalized(const Tensor& x, const Tensor& mean, const Tensor& variance, const Tensor& offset,
                  const Tensor& scale, double epsilon) {
  Tensor inverse = op1(RW_OP("Rsqrt"), variance + epsilon);
  if (scale.defined()) inverse = inverse * scale;
  const Tensor shift = offset.defined() ? offset - mean * inverse : -(mean * inverse);
  return x * inverse + shift;
}

}  // namespace

Tensor l2_normalize(const Operand& x, const Axes& axis, double epsilon) {
  const Tensor& t = x.tensor(DType::kFloat32);
  const Tensor square_sum = reduce_sum(op1(RW_OP("Square"), t), axis, true);
  const Tensor least = scalar_tensor(epsilon, t.dtype());
  return t * op1(RW_OP("Rsqrt"), apply_one(RW_OP("Maximum"), {&square_sum, &least}));
}

Tensor batch_normalization(const Operand& x, const Operand& mean, const Operand& variance,
                           const Tensor& offset, const Tensor& scale, double variance_epsilon) {
  const std::vector<Tensor> t = unify({&x, &mean, &variance});
  return normalized(t[0], t[1], t[2], offset, scale, variance_epsilon);
}

FusedBatchNorm fused_batch_norm(const Operand& x, const Operand& scale, const Operand& offset,
                                const FusedBatchNormOptions& options) {
  if (!options.is_training && (!options.mean.defined() || !options.variance.defined()))
    fail_invalid("fused_batch_norm",
                 "mean and variance must be given when is_training is false: they are not");
  const Tensor nothing = constant(std::vector<float>{});
  const Tensor& mean = options.mean.defined() ? options.mean : nothing;
  const Tensor& variance = options.variance.defined() ? options.variance : nothing;
  const Tensors out = apply(RW_OP("FusedBatchNormV3"),
                            {&x.tensor(DType::kFloat32), &scale.tensor(DType::kFloat32),
                             &offset.tensor(DType::kFloat32), &mean, &variance},
                            {{"epsilon", options.epsilon},
                             {"exponential_avg_factor", options.exponential_avg_factor},
                             {"data_format", options.data_format},
                             {"is_training", options.is_training}});
  return {out[0], out[1], out[2]};
}

Tensor layer_normalization(const Operand& x, const Tensor& gamma, const Tensor& beta,
                           const LayerNormalizationOptions& options) {
  const Tensor& t = x.tensor(DType::kFloat32);
  const Moments m = moments(t, options.axis, true);
  // Statistics are a row's own here: a product for each of them would be one for each element.
  Tensor y = (t - m.mean) * op1(RW_OP("Rsqrt"), m.variance + options.epsilon);
  if (gamma.defined()) y = y * gamma;
  return beta.defined() ? y + beta : y;
}

Tensor local_response_normalization(const Operand& input, const LrnOptions& options) {
  return apply_one(RW_OP("LRN"), {&input.tensor(DType::kFloat32)},
                   {{"depth_radius", options.depth_radius},
                    {"bias", options.bias},
                    {"alpha", options.alpha},
                    {"beta", options.beta}});
}

}  // namespace rw::nn
