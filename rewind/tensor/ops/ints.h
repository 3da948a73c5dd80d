// Arguments that are integers: a shape, axes, sizes. A list of C++ numbers, a Shape, or an integer tensor.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "rewind/tensor/tensor.h"

namespace rw {

class Ints {
 public:
  Ints(std::initializer_list<int64_t> values);     // NOLINT: lists are written as they are
  Ints(const std::vector<int64_t>& values);        // NOLINT
  Ints(const std::vector<int>& values);            // NOLINT
  Ints(const Shape& shape);                        // NOLINT
  Ints(const Tensor& tensor) : tensor_(tensor) {}  // NOLINT
  Ints(int64_t value);                             // NOLINT: one number is a scalar
  Ints(int value) : Ints(int64_t(value)) {}        // NOLINT

  // int32 where the numbers fit, as TensorFlow makes them.
  const Tensor& tensor() const { return tensor_; }
  // A scalar as a list of one.
  Tensor vector() const;

 private:
  Tensor tensor_;
};

// How much to add (or cut) in front of and behind each axis: {{1, 1}, {0, 2}}, or an integer tensor of (rank,
// 2).
class Paddings {
 public:
  Paddings(std::initializer_list<std::pair<int64_t, int64_t>> pairs);  // NOLINT
  Paddings(const std::vector<std::pair<int64_t, int64_t>>& pairs);     // NOLINT
  Paddings(const Tensor& tensor) : tensor_(tensor) {}                  // NOLINT
  const Tensor& tensor() const { return tensor_; }

 private:
  Tensor tensor_;
};

// How split cuts: into a number of equal parts, or into parts of these sizes (one may be -1).
class Sections {
 public:
  Sections(int count) : count_(count) {}                                            // NOLINT
  Sections(int64_t count) : count_(count) {}                                        // NOLINT
  Sections(std::initializer_list<int64_t> sizes) : sizes_(Ints(sizes).tensor()) {}  // NOLINT
  Sections(const std::vector<int64_t>& sizes) : sizes_(Ints(sizes).tensor()) {}     // NOLINT
  Sections(const Tensor& sizes) : sizes_(sizes) {}                                  // NOLINT

  bool equal() const { return !sizes_.defined(); }
  int64_t count() const { return equal() ? count_ : sizes_.dim(0); }
  const Tensor& sizes() const { return sizes_; }

 private:
  int64_t count_ = 0;
  Tensor sizes_;
};

}  // namespace rw
