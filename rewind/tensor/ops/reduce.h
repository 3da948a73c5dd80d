// Reductions and scans, with TensorFlow's names. Axes: none (all of them), one number, a list, or a tensor.
//   reduce_sum(x), reduce_sum(x, 1), reduce_sum(x, {0, 1}, true)
#pragma once

#include <vector>

#include "rewind/tensor/operand.h"

namespace rw {

// The axes of a reduction.
class Axes {
 public:
  Axes() = default;                                         // all
  Axes(int axis) : list_({axis}), kind_(Kind::kOne) {}      // NOLINT: axes are written as they are
  Axes(int64_t axis) : list_({axis}), kind_(Kind::kOne) {}  // NOLINT
  Axes(std::initializer_list<int64_t> axes) : list_(axes), kind_(Kind::kList) {}   // NOLINT
  Axes(std::vector<int64_t> axes) : list_(std::move(axes)), kind_(Kind::kList) {}  // NOLINT
  Axes(const Tensor& axes) : tensor_(axes), kind_(Kind::kTensor) {}                // NOLINT

  // How many there are: 1 for all of them together; -1 for a tensor.
  int count() const { return kind_ == Kind::kAll ? 1 : kind_ == Kind::kTensor ? -1 : int(list_.size()); }
  int64_t operator[](size_t i) const { return list_[i]; }
  // As the op's input, for this tensor.
  Tensor tensor(const Tensor& reduced) const;

 private:
  enum class Kind : uint8_t { kAll, kOne, kList, kTensor };
  std::vector<int64_t> list_;
  Tensor tensor_;
  Kind kind_ = Kind::kAll;
};

Tensor reduce_sum(const Operand& x, const Axes& axis = {}, bool keepdims = false);
Tensor reduce_mean(const Operand& x, const Axes& axis = {}, bool keepdims = false);
Tensor reduce_prod(const Operand& x, const Axes& axis = {}, bool keepdims = false);
Tensor reduce_max(const Operand& x, const Axes& axis = {}, bool keepdims = false);
Tensor reduce_min(const Operand& x, const Axes& axis = {}, bool keepdims = false);
Tensor reduce_any(const Operand& x, const Axes& axis = {}, bool keepdims = false);
Tensor reduce_all(const Operand& x, const Axes& axis = {}, bool keepdims = false);

// log(sum(exp(x))), without overflow.
Tensor reduce_logsumexp(const Operand& x, const Axes& axis = {}, bool keepdims = false);
Tensor reduce_variance(const Operand& x, const Axes& axis = {}, bool keepdims = false);
Tensor reduce_std(const Operand& x, const Axes& axis = {}, bool keepdims = false);
Tensor reduce_euclidean_norm(const Operand& x, const Axes& axis = {}, bool keepdims = false);

// Positions of the extremes along one axis; the first wins.
Tensor argmax(const Operand& x, int axis = 0, DType output_type = DType::kInt64);
Tensor argmin(const Operand& x, int axis = 0, DType output_type = DType::kInt64);

struct ScanOptions {
  bool exclusive = false;  // each result leaves its own element out
  bool reverse = false;    // from the end of the axis
};
Tensor cumsum(const Operand& x, int axis = 0, ScanOptions options = {});

// Vector norms over one axis or all elements, matrix norms over two.
struct NormOptions {
  double ord = 2;  // 1, 2, infinity, or any positive p (vectors)
  Axes axis = {};  // all elements; one axis: vectors; two: matrices
  bool keepdims = false;
  bool frobenius =
      false;  // ord='fro' and ord='euclidean': the root of the sum of squares, also over two axes
};
Tensor norm(const Operand& x, const NormOptions& options = {});

// Scales x down to at most this norm, over the axes.
Tensor clip_by_norm(const Operand& x, const Operand& clip_norm, const Axes& axes = {});
struct ClippedTensors {
  std::vector<Tensor> tensors;  // undefined where the input was
  Tensor global_norm;
};
// Scales all tensors by clip_norm / max(global norm, clip_norm). Undefined tensors (gradients that are none)
// stay.
ClippedTensors clip_by_global_norm(const MixedOperands& tensors, const Operand& clip_norm,
                                   const Tensor& use_norm = {});

namespace math {
using rw::argmax;
using rw::argmin;
using rw::cumsum;
using rw::reduce_all;
using rw::reduce_any;
using rw::reduce_euclidean_norm;
using rw::reduce_logsumexp;
using rw::reduce_max;
using rw::reduce_mean;
using rw::reduce_min;
using rw::reduce_prod;
using rw::reduce_std;
using rw::reduce_sum;
using rw::reduce_variance;
Tensor cumprod(const Operand& x, int axis = 0, ScanOptions options = {});
Tensor cumulative_logsumexp(const Operand& x, int axis = 0, ScanOptions options = {});
Tensor count_nonzero(const Operand& x, const Axes& axis = {}, bool keepdims = false,
                     DType dtype = DType::kInt64);
}  // namespace math

namespace linalg {
using rw::norm;
// The root of the sum of squares of all elements of all tensors; undefined ones are skipped.
Tensor global_norm(const MixedOperands& tensors);
}  // namespace linalg

namespace nn {
struct Moments {
  Tensor mean, variance;
};
Moments moments(const Operand& x, const Axes& axes, bool keepdims = false);
// The share of zeros among the elements.
Tensor zero_fraction(const Operand& x);
}  // namespace nn

}  // namespace rw
