// Rows of the op table applied to one or two tensors, for composed ops and gradients.
#pragma once

#include "rewind/tensor/apply.h"

namespace rw {

inline Tensor op1(const Op& op, const Tensor& x) { return apply_one(op, {&x}); }
inline Tensor op2(const Op& op, const Tensor& x, const Tensor& y) { return apply_one(op, {&x, &y}); }
inline Tensor cast_to(const Tensor& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  return apply_one(RW_OP("Cast"), {&x}, {{"DstT", dtype}});
}

}  // namespace rw
