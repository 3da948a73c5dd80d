// Tensors from nothing: constants of a shape, sequences, one-hot codes.
#pragma once

#include "rewind/tensor/operand.h"
#include "rewind/tensor/shape_argument.h"

namespace rw {

// A number, a string, a vector, braces or a tensor as a tensor: convert_to_tensor({{1, 2}, {3, 4}}, int64).
// Tensors must have the dtype already.
Tensor convert_to_tensor(const Operand& value, DType dtype = DType::kInvalid);

Tensor zeros(const ShapeArgument& shape, DType dtype = DType::kFloat32);
Tensor ones(const ShapeArgument& shape, DType dtype = DType::kFloat32);
Tensor fill(const ShapeArgument& dims, const Operand& value);
// Of the input's shape, and of its type unless another is given.
Tensor zeros_like(const Operand& x, DType dtype = DType::kInvalid);
Tensor ones_like(const Operand& x, DType dtype = DType::kInvalid);

// start, start + delta, ... up to but without limit. Without a dtype the widest of the arguments' types.
Tensor range(const Operand& limit, DType dtype = DType::kInvalid);
Tensor range(const Operand& start, const Operand& limit, const Operand& delta = 1,
             DType dtype = DType::kInvalid);
// num values from start to stop, both included, along a new axis. Of integers they are float64, of those of 8
// and 16 bits float32; numbers of C++ take the type of the other end.
Tensor linspace(const Operand& start, const Operand& stop, int64_t num, int axis = 0);

struct EyeOptions {
  int64_t num_columns = -1;  // as many as rows
  std::vector<int64_t> batch_shape = {};
  DType dtype = DType::kFloat32;
};
Tensor eye(int64_t num_rows, const EyeOptions& options = {});

struct OneHotOptions {
  Tensor on_value = {};           // 1
  Tensor off_value = {};          // 0
  int axis = -1;                  // where the new axis goes
  DType dtype = DType::kInvalid;  // that of on_value or off_value, else float32
};
Tensor one_hot(const Operand& indices, const Operand& depth, const OneHotOptions& options = {});

namespace linalg {
using rw::eye;
}  // namespace linalg

}  // namespace rw
