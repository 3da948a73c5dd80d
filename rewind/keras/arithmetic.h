// Small steps that losses, metrics and regularizers share, as Keras makes them. For the library's own files.
#pragma once

#include <string>
#include <utility>

#include "rewind/tensor/tensor.h"

namespace rw::keras {

inline constexpr double kEpsilon = 1e-7;  // keras.config.epsilon()

Tensor as_type(const Tensor& x, DType dtype);
// x / max(|x|, epsilon) along the axis.
Tensor normalized(const Tensor& x, int axis);
// If one has a last axis of size 1 that the other lacks, it goes; where the other has one axis only, that
// gets a last axis instead.
std::pair<Tensor, Tensor> same_rank(const Tensor& a, const Tensor& b, bool expand_rank_1 = true);
// How many elements x has, as a number of this type.
Tensor element_count(const Tensor& x, DType dtype);

// Values times weights, masked and reduced by Keras' rules. Weights and mask may be undefined. reduction:
// "none", "sum", "sum_over_batch_size", "mean", "mean_with_sample_weight".
Tensor reduce_weighted(const Tensor& values, Tensor sample_weight, const Tensor& mask,
                       const std::string& reduction);
void check_reduction(const std::string& reduction);
// Weights with the mask's part in them; both may be undefined.
Tensor apply_mask(const Tensor& sample_weight, const Tensor& mask, DType dtype, const std::string& reduction);

}  // namespace rw::keras
