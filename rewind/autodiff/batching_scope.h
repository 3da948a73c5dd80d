// The level at which this thread runs ops, and tensors that carry a level's batch.
#pragma once

#include "rewind/tensor/sizes.h"

namespace rw {

class BatchContext;

class DepthScope {
 public:
  explicit DepthScope(int depth);
  // Inside a batch of this size.
  DepthScope(int depth, const Size& batch);
  ~DepthScope();
  DepthScope(const DepthScope&) = delete;
  DepthScope& operator=(const DepthScope&) = delete;

 private:
  int outer_;
  const Size* outer_batch_ = nullptr;
  int entered_ = 0;
};

bool is_batched_at(const Tensor& t, int level);
// A tensor of level `level` whose elements lie along axis 0 of `inner`.
Tensor make_batched(const Tensor& inner, int level);
// The tensor with the batch as axis 0; one that does not depend on the batch is repeated.
Tensor strip_batch(const Tensor& t, int level, const Size& batch_size);
Tensor repeat_in_front(const Tensor& t, const Size& count);

// Calls of an op for all elements of a batch as a loop of the graph, where their number is not known or
// large. Defined in function/control_batching.cc, and linked as the rules of control flow are.
[[gnu::weak]] void loop_over_batch(BatchContext& ctx);

}  // namespace rw
