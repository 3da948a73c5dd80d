// Sizes of shapes that a trace may know only in part. A Size is a number where the shape says it, and else a
// scalar of the graph; sums and products of numbers are numbers, so that code written with sizes costs
// nothing where all of them are known.
#pragma once

#include <vector>

#include "rewind/base/function_ref.h"
#include "rewind/tensor/tensor.h"

namespace rw {

// Whether the tensor's elements can be read now.
bool value_known(const Tensor& tensor);
// The elements of an integer tensor whose value is known.
std::vector<int64_t> known_ints(const Tensor& tensor);

class Size {
 public:
  Size(int64_t number) : number_(number) {}  // NOLINT: a number is a size
  explicit Size(const Tensor& scalar);       // int32 or int64

  bool known() const { return !scalar_.defined(); }
  bool is(int64_t number) const { return known() && number_ == number; }
  int64_t number() const { return number_; }  // -1 when it is not known
  Tensor tensor(DType dtype = DType::kInt64) const;

  friend Size operator+(const Size& a, const Size& b);
  friend Size operator-(const Size& a, const Size& b);
  friend Size operator*(const Size& a, const Size& b);
  friend Size operator/(const Size& a, const Size& b);  // rounds down

 private:
  int64_t number_ = -1;
  Tensor scalar_;  // int64; undefined when the number is known
};

using Sizes = std::vector<Size>;

// One size an axis; the rank must be known. The second form takes the shape and, for the sizes that are not
// known, what gives it as a vector.
Sizes sizes_of(const Tensor& tensor);
Sizes sizes_of(const Shape& shape, FunctionRef<Tensor()> dims);
// The sizes as a shape: -1 where one is not known.
Shape known_shape(const Sizes& sizes);
Size product(const Sizes& sizes, size_t begin, size_t end);
inline Size product(const Sizes& sizes) { return product(sizes, 0, sizes.size()); }
// The number of elements, also of a tensor of unknown rank.
Size element_count(const Tensor& tensor);

// As the input of an op: a vector.
Tensor dims_tensor(const Sizes& sizes, DType dtype = DType::kInt64);
Tensor dims_tensor(const Shape& shape, DType dtype = DType::kInt64);    // fully known
Tensor dims_tensor(const Tensor& tensor, DType dtype = DType::kInt64);  // its shape
Tensor cast_ints(const Tensor& tensor, DType dtype);
Tensor reshape_sizes(const Tensor& tensor, const Sizes& sizes);
Tensor broadcast_sizes(const Tensor& tensor, const Sizes& sizes);
Tensor fill_sizes(const Sizes& sizes, const Tensor& scalar);
// Elements [begin, end) of a vector; end may be -1 for the rest.
Tensor part_of_vector(const Tensor& vector, const Size& begin, const Size& end);
Size element_of(const Tensor& vector, const Size& index);
// 0, 1, ..., count - 1.
Tensor numbers_below(const Size& count, DType dtype = DType::kInt64);
// 0, step, 2 step, ... as a column (count, 1) of int64.
Tensor multiples_column(const Size& count, const Size& step);

}  // namespace rw
