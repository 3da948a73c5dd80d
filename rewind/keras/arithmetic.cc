#include "rewind/keras/arithmetic.h"

#include "rewind/base/error.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/creation.h"
#include "rewind/tensor/ops/reduce.h"
#include "rewind/tensor/ops/shape.h"
#include "rewind/tensor/ops/unary.h"

namespace rw::keras {

Tensor as_type(const Tensor& x, DType dtype) { return x.dtype() == dtype ? x : cast(x, dtype); }

Tensor normalized(const Tensor& x, int axis) {
  return x * minimum(math::rsqrt(reduce_sum(square(x), axis, true)), 1.0 / kEpsilon);
}

std::pair<Tensor, Tensor> same_rank(const Tensor& a, const Tensor& b, bool expand_rank_1) {
  if (a.rank() == b.rank() + 1 && a.dim(-1) == 1) {
    if (b.rank() == 1 && expand_rank_1) return {a, expand_dims(b, -1)};
    return {squeeze(a, {-1}), b};
  }
  if (b.rank() == a.rank() + 1 && b.dim(-1) == 1) {
    if (a.rank() == 1 && expand_rank_1) return {expand_dims(a, -1), b};
    return {a, squeeze(b, {-1})};
  }
  return {a, b};
}

Tensor element_count(const Tensor& x, DType dtype) {
  if (x.shape().has_rank() && x.shape().fully_known()) return scalar_tensor(x.shape().num_elements(), dtype);
  return cast(size(x), dtype);
}

void check_reduction(const std::string& reduction) {
  for (const char* known : {"sum_over_batch_size", "sum", "none", "mean", "mean_with_sample_weight"})
    if (reduction == known) return;
  fail_invalid("reduction",
               "must be sum_over_batch_size, sum, mean, mean_with_sample_weight or none: it is " + reduction);
}

Tensor apply_mask(const Tensor& sample_weight, const Tensor& mask, DType dtype,
                  const std::string& reduction) {
  if (!mask.defined()) return sample_weight;
  Tensor weight;
  if (reduction == "mean" || reduction == "sum_over_batch_size") {
    const Tensor valid = reduce_sum(as_type(mask, dtype));
    weight = where(as_type(mask, DType::kBool), math::divide_no_nan(element_count(mask, dtype), valid),
                   scalar_tensor(0.0, dtype));
  } else {
    weight = as_type(mask, dtype);
  }
  if (!sample_weight.defined()) return weight;
  const auto [masked, given] = same_rank(weight, as_type(sample_weight, dtype));
  return given * masked;
}

Tensor reduce_weighted(const Tensor& values, Tensor sample_weight, const Tensor& mask,
                       const std::string& reduction) {
  const DType dtype = values.dtype();
  sample_weight = apply_mask(sample_weight, mask, dtype, reduction);
  Tensor weighted = values;
  if (sample_weight.defined()) {
    std::tie(weighted, sample_weight) = same_rank(values, as_type(sample_weight, dtype));
    weighted = weighted * sample_weight;
  }
  if (reduction == "none" || weighted.rank() == 0) return weighted;
  const Tensor sum = reduce_sum(weighted);
  if (reduction == "sum") return sum;
  if (reduction == "mean_with_sample_weight" && sample_weight.defined())
    return math::divide_no_nan(sum, reduce_sum(sample_weight));
  if (weighted.shape().has_rank() && weighted.shape().fully_known() && weighted.size() > 0)
    return sum / double(weighted.size());
  return math::divide_no_nan(sum, element_count(weighted, dtype));
}

}  // namespace rw::keras
