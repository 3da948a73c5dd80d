// Reductions and scans, with TensorFlow's names. Axes: none (all of them), one number, a list, or a tensor.
//   reduce_sum(x), reduce_sum(x, 1), reduce_sum(x, {0, 1}, true)
#pragma once

#include <optional>
#include <vector>

#include "rewind/tensor/operand.h"

namespace rw {

// The axes of a reduction.
class Axes {
 public:
  Axes() = default;                                                            // all
  Axes(int axis) : list_({axis}), kind_(Kind::kOne) {}                         // NOLINT: axes are written as they are
  Axes(int64_t axis) : list_({axis}), kind_(Kind::kOne) {}                     // NOLINT
  Axes(std::initializer_list<int64_t> axes) : list_(axes), kind_(Kind::kList) {}  // NOLINT
  Axes(std::vector<int64_t> axes) : list_(std::move(axes)), kind_(Kind::kList) {}  // NOLINT
  Axes(const Tensor& axes) : tensor_(axes), kind_(Kind::kTensor) {}            // NOLINT

  bool all() const { return kind_ == Kind::kAll; }
  // As the op's input, for a tensor of this rank.
  Tensor tensor(int rank) const;

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

}  // namespace rw
