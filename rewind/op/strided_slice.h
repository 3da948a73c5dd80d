// What a strided slice takes: TensorFlow's begin, end, strides and five masks, resolved against an input's
// shape.
#pragma once

#include "rewind/op/op.h"

namespace rw {

struct SliceMasks {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t ellipsis = 0;
  int64_t new_axis = 0;
  int64_t shrink_axis = 0;
};
// Those that a call does not say are 0.
SliceMasks slice_masks(const Attrs& attrs);

struct SlicePlan {
  // One of each per axis of the input: elements begin, begin + step, ..., `count` of them. count is -1 where
  // the input's size is unknown.
  IntVector begin, step, count;
  IntVector result_axis;   // per axis of the input: its place in the result, -1 when it is shrunk
  uint64_t untouched = 0;  // bits of the input's axes that no index says anything about
  Shape shape;             // the result's: without the shrunk axes, with the new ones
};

// Throws InvalidArgumentError, as TensorFlow does: wrong lengths, zero strides, an index out of bounds, two
// ellipses, too many indices. `input` must have a rank.
SlicePlan plan_slice(std::string_view tag, const Shape& input, const IntVector& begin, const IntVector& end,
                     const IntVector& strides, const SliceMasks& masks);

// Whether a value of shape `from` fills `to` by broadcasting; sizes of 1 in front of it do not count.
bool broadcasts_into(const Shape& from, const Shape& to);

}  // namespace rw
