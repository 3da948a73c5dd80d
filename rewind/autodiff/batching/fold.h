// Helpers of batching rules that join the batch with the op's own first axis.
#pragma once

#include "rewind/tensor/apply.h"

namespace rw {

inline Tensor reshape_sizes(const Tensor& x, const std::vector<int64_t>& sizes) {
  const Tensor shape = constant(sizes);
  return apply_one(RW_OP("Reshape"), {&x, &shape});
}
inline std::vector<int64_t> dims_of(const Tensor& x) { return {x.shape().begin(), x.shape().end()}; }

// Axes 0 and 1 as one.
inline Tensor fold_first(const Tensor& x) {
  std::vector<int64_t> sizes = dims_of(x);
  sizes[1] *= sizes[0];
  sizes.erase(sizes.begin());
  return reshape_sizes(x, sizes);
}
// Axis 0 as (batch, rest).
inline Tensor unfold_first(const Tensor& x, int64_t batch) {
  std::vector<int64_t> sizes = dims_of(x);
  sizes[0] = batch == 0 ? 0 : sizes[0] / batch;
  sizes.insert(sizes.begin(), batch);
  return reshape_sizes(x, sizes);
}

// Axis `from` moved to place `to`.
inline Tensor move_axis(const Tensor& x, int from, int to) {
  std::vector<int32_t> order;
  for (int i = 0; i < x.rank(); ++i)
    if (i != from) order.push_back(i);
  order.insert(order.begin() + to, from);
  const Tensor permutation = constant(order);
  return apply_one(RW_OP("Transpose"), {&x, &permutation});
}

// The batch (axis 0) joined with the last axis, in front of it; and back.
inline Tensor fold_last(const Tensor& x) {
  const Tensor moved = move_axis(x, 0, x.rank() - 2);
  std::vector<int64_t> sizes = dims_of(moved);
  sizes[sizes.size() - 2] *= sizes.back();
  sizes.pop_back();
  return reshape_sizes(moved, sizes);
}
inline Tensor unfold_last(const Tensor& x, int64_t batch) {
  std::vector<int64_t> sizes = dims_of(x);
  const int64_t last = batch == 0 ? 0 : sizes.back() / batch;
  sizes.back() = batch;
  sizes.push_back(last);
  return move_axis(reshape_sizes(x, sizes), int(sizes.size()) - 2, 0);
}

}  // namespace rw
