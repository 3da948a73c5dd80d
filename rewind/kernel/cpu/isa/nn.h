// Loops of the nn family: softmax and cross entropy by rows, biases by channels.
#pragma once

#include <cstdint>

namespace rw {

inline constexpr int kNumDTypes = 24;

// How the elements of a (rows, classes) matrix lie: steps are in elements, 0 where it is broadcast.
struct MatrixSteps {
  int64_t row, column;
};

// x and out are (rows, classes), dense. `work` has room for softmax_block_rows(classes) rows of floats when
// elements are 16 bits wide, and is not touched otherwise.
using SoftmaxLoop = void (*)(const void* x, void* out, float* work, int64_t rows, int64_t classes);
// loss (rows), backprop (rows, classes).
using CrossEntropyLoop = void (*)(const void* features, MatrixSteps features_steps, const void* labels,
                                  MatrixSteps labels_steps, void* loss, void* backprop, float* work,
                                  int64_t rows, int64_t classes);
// Labels are in [0, classes).
using SparseCrossEntropyLoop = void (*)(const void* features, const int64_t* labels, void* loss,
                                        void* backprop, float* work, int64_t rows, int64_t classes);
// value and out are (rows, channels, inner), bias (channels).
using BiasAddLoop = void (*)(const void* value, const void* bias, void* out, int64_t rows, int64_t channels,
                             int64_t inner);
// Sums of x (rows, channels) over the rows, in order, into sums (channels), which is of the compute type.
using ColumnSumLoop = void (*)(const void* x, void* sums, int64_t rows, int64_t channels);
// The sum of n elements, and of their squares, in 16 interleaved parts; the result is of the compute type.
using FlatSumLoop = void (*)(const void* x, void* sum, int64_t n);

// Batch normalisation of floats; x and grad are (rows, channels), the vectors (channels).
// sums = sum over the rows of grad * (x - mean), or of (x - mean)^2 when grad is null.
using CenteredSumLoop = void (*)(const float* grad, const float* x, const float* mean, float* sums,
                                 int64_t rows, int64_t channels);
// out = (x - mean) * gain + offset
using NormalizeLoop = void (*)(const float* x, const float* mean, const float* gain, const float* offset,
                               float* out, int64_t rows, int64_t channels);
// out = (grad - mean_grad - (x - mean) * slope) * gain
using NormalizeGradLoop = void (*)(const float* grad, const float* x, const float* mean,
                                   const float* mean_grad, const float* slope, const float* gain, float* out,
                                   int64_t rows, int64_t channels);

// By dtype; null where there is none.
struct NnLoops {
  SoftmaxLoop softmax[kNumDTypes];
  SoftmaxLoop log_softmax[kNumDTypes];
  CrossEntropyLoop cross_entropy[kNumDTypes];
  SparseCrossEntropyLoop sparse_cross_entropy[kNumDTypes];
  BiasAddLoop bias_add[kNumDTypes];
  ColumnSumLoop column_sum[kNumDTypes];
  FlatSumLoop flat_sum[kNumDTypes];
  FlatSumLoop square_sum[kNumDTypes];
  CenteredSumLoop centered_product_sum;
  NormalizeLoop normalize;
  NormalizeGradLoop normalize_grad;
};

// Short rows are taken several at a time, so that exp runs over full vectors.
[[gnu::always_inline]] constexpr int64_t softmax_block_rows(int64_t classes) {
  return classes >= 512 || classes <= 0 ? 1 : 1024 / classes;
}

}  // namespace rw
