// The one door: every op, from every caller, goes through apply.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "rewind/base/small_vector.h"
#include "rewind/op/attrs.h"
#include "rewind/op/op.h"
#include "rewind/op/table.h"
#include "rewind/tensor/tensor.h"

namespace rw {

using Tensors = SmallVector<Tensor, 2>;
using TensorPointers = std::span<const Tensor* const>;

// Runs the op eagerly or adds it to the trace, and tells the tapes. Inputs are flat: a list argument is
// several.
Tensors apply(const Op& op, TensorPointers inputs, const Attrs& attrs = {});
Tensors apply(const Op& op, const std::vector<Tensor>& inputs, const Attrs& attrs = {});
inline Tensors apply(const Op& op, std::initializer_list<const Tensor*> inputs, const Attrs& attrs = {}) {
  return apply(op, TensorPointers(inputs.begin(), inputs.size()), attrs);
}
// The same for ops with one output.
Tensor apply_one(const Op& op, TensorPointers inputs, const Attrs& attrs = {});
inline Tensor apply_one(const Op& op, std::initializer_list<const Tensor*> inputs, const Attrs& attrs = {}) {
  return apply_one(op, TensorPointers(inputs.begin(), inputs.size()), attrs);
}

// Every row by its name: raw_op("MatMul", {a, b}, {{"transpose_b", true}}).
std::vector<Tensor> raw_op(std::string_view name, const std::vector<Tensor>& inputs, const Attrs& attrs = {});

}  // namespace rw

// A row, looked up once per place: RW_OP("MatMul").
#define RW_OP(name)                                  \
  ([]() -> const ::rw::Op& {                         \
    static const ::rw::Op& op = ::rw::find_op(name); \
    return op;                                       \
  }())
