// A shape as an argument of a public function: {2, 3}, a Shape, a list of sizes, or a tensor of integers.
#pragma once

#include <initializer_list>
#include <vector>

#include "rewind/tensor/tensor.h"

namespace rw {

class ShapeArgument {
 public:
  ShapeArgument() = default;  // a scalar's
  ShapeArgument(std::initializer_list<int64_t> dims)
      : shape_(dims) {}                                              // NOLINT: shapes are written as they are
  ShapeArgument(const Shape& shape) : shape_(shape) {}               // NOLINT
  ShapeArgument(const std::vector<int64_t>& dims) : shape_(dims) {}  // NOLINT
  ShapeArgument(int size) : shape_({size}) {}                        // NOLINT
  ShapeArgument(int64_t size) : shape_({size}) {}                    // NOLINT
  ShapeArgument(const Tensor& dims) : tensor_(dims) {}               // NOLINT

  // As the input of an op: int32 where the sizes fit, as in TensorFlow.
  Tensor tensor() const {
    if (tensor_.defined()) return tensor_;
    for (const int64_t d : shape_)
      if (d > INT32_MAX) return constant(shape_.begin(), Shape{shape_.rank()});
    std::vector<int32_t> dims(shape_.begin(), shape_.end());
    return constant(dims);
  }
  // nullptr when it is a tensor.
  const Shape* known() const { return tensor_.defined() ? nullptr : &shape_; }

 private:
  Shape shape_;
  Tensor tensor_;
};

}  // namespace rw
