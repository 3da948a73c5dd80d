// Helpers of batching rules that join the batch with an axis of the op's own. Sizes may be open, in a trace.
#pragma once

#include "rewind/autodiff/batching.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/sizes.h"

namespace rw {

// Axes `at` and `at + 1` as one, and axis `at` as (front, rest).
inline Tensor join_axes(const Tensor& x, int at) {
  Sizes sizes = sizes_of(x);
  sizes[size_t(at)] = sizes[size_t(at)] * sizes[size_t(at) + 1];
  sizes.erase(sizes.begin() + at + 1);
  return reshape_sizes(x, sizes);
}
inline Tensor split_axis(const Tensor& x, int at, const Size& front) {
  Sizes sizes = sizes_of(x);
  const Size rest = front.is(0) ? Size(0) : sizes[size_t(at)] / front;
  sizes[size_t(at)] = front;
  sizes.insert(sizes.begin() + at + 1, rest);
  return reshape_sizes(x, sizes);
}

// Axis `from` moved to place `to`.
inline Tensor move_axis(const Tensor& x, int from, int to) {
  if (from == to) return x;
  std::vector<int32_t> order;
  for (int i = 0; i < x.rank(); ++i)
    if (i != from) order.push_back(i);
  order.insert(order.begin() + to, from);
  const Tensor permutation = constant(order);
  return apply_one(RW_OP("Transpose"), {&x, &permutation});
}

// The batch (axis 0) joined with axis `at` of the elements, in front of it; and back.
inline Tensor fold_at(const Tensor& x, int at) { return join_axes(move_axis(x, 0, at), at); }
inline Tensor unfold_at(const Tensor& x, int at, const Size& batch) {
  return move_axis(split_axis(x, at, batch), at, 0);
}
inline Tensor fold_first(const Tensor& x) { return fold_at(x, 0); }
inline Tensor unfold_first(const Tensor& x, const Size& batch) { return unfold_at(x, 0, batch); }

// The op on all examples as one: each input's and output's first axis takes the batch in.
inline void fold_all(BatchContext& c) {
  std::vector<Tensor> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) inputs.push_back(fold_first(c.with_batch(i)));
  const Tensors out = apply(c.op(), inputs, c.attrs());
  for (int i = 0; i < c.num_outputs(); ++i) c.set(i, unfold_first(out[size_t(i)], c.batch()));
}

}  // namespace rw
