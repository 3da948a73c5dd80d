// The level at which this thread runs ops, and tensors that carry a level's batch.
#pragma once

#include "rewind/tensor/sizes.h"

namespace rw {

class DepthScope {
 public:
  explicit DepthScope(int depth);
  ~DepthScope();
  DepthScope(const DepthScope&) = delete;
  DepthScope& operator=(const DepthScope&) = delete;

 private:
  int outer_;
};

bool is_batched_at(const Tensor& t, int level);
// A tensor of level `level` whose elements lie along axis 0 of `inner`.
Tensor make_batched(const Tensor& inner, int level);
// The tensor with the batch as axis 0; one that does not depend on the batch is repeated.
Tensor strip_batch(const Tensor& t, int level, const Size& batch_size);
Tensor repeat_in_front(const Tensor& t, const Size& count);

}  // namespace rw
