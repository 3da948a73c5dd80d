// Elementwise functions of two and more arguments, and operators. Shapes broadcast as in numpy; C++ numbers
// take the tensor's type.
#pragma once

#include <vector>

#include "rewind/tensor/operand.h"
#include "rewind/tensor/ops/operators.h"

namespace rw {

Tensor add(const Operand& x, const Operand& y);  // joins strings
Tensor subtract(const Operand& x, const Operand& y);
Tensor multiply(const Operand& x, const Operand& y);
// True division: integers become floats (8 and 16 bits float32, wider ones float64).
Tensor divide(const Operand& x, const Operand& y);
Tensor truediv(const Operand& x, const Operand& y);
// Integer division and its remainder, towards zero.
Tensor truncatediv(const Operand& x, const Operand& y);
Tensor truncatemod(const Operand& x, const Operand& y);
Tensor pow(const Operand& x, const Operand& y);
Tensor maximum(const Operand& x, const Operand& y);
Tensor minimum(const Operand& x, const Operand& y);
Tensor atan2(const Operand& y, const Operand& x);
Tensor scalar_mul(const Operand& scalar, const Operand& x);

Tensor equal(const Operand& x, const Operand& y);
Tensor not_equal(const Operand& x, const Operand& y);
Tensor less(const Operand& x, const Operand& y);
Tensor less_equal(const Operand& x, const Operand& y);
Tensor greater(const Operand& x, const Operand& y);
Tensor greater_equal(const Operand& x, const Operand& y);
Tensor logical_and(const Operand& x, const Operand& y);
Tensor logical_or(const Operand& x, const Operand& y);

// x where the condition is true, else y.
Tensor where(const Operand& condition, const Operand& x, const Operand& y);
// Each element moved into [clip_value_min, clip_value_max]; bounds must broadcast to x's shape.
Tensor clip_by_value(const Operand& x, const Operand& clip_value_min, const Operand& clip_value_max);
// The sum of tensors of one shape.
Tensor add_n(const Operands& inputs);

namespace math {

using rw::add;
using rw::add_n;
using rw::atan2;
using rw::divide;
using rw::equal;
using rw::greater;
using rw::greater_equal;
using rw::less;
using rw::less_equal;
using rw::logical_and;
using rw::logical_or;
using rw::maximum;
using rw::minimum;
using rw::multiply;
using rw::not_equal;
using rw::pow;
using rw::scalar_mul;
using rw::subtract;
using rw::truediv;

Tensor accumulate_n(const Operands& inputs);
Tensor floordiv(const Operand& x, const Operand& y);
Tensor floormod(const Operand& x, const Operand& y);
Tensor mod(const Operand& x, const Operand& y);              // floormod
Tensor divide_no_nan(const Operand& x, const Operand& y);    // 0 where y is 0
Tensor multiply_no_nan(const Operand& x, const Operand& y);  // 0 where y is 0
Tensor squared_difference(const Operand& x, const Operand& y);
Tensor logical_xor(const Operand& x, const Operand& y);
Tensor nextafter(const Operand& x1, const Operand& x2);
// 0 where x is 0, else x log(y), x log(1 + y), x / y.
Tensor xlogy(const Operand& x, const Operand& y);
Tensor xlog1py(const Operand& x, const Operand& y);
Tensor xdivy(const Operand& x, const Operand& y);

Tensor igamma(const Operand& a, const Operand& x);
Tensor igammac(const Operand& a, const Operand& x);
Tensor betainc(const Operand& a, const Operand& b, const Operand& x);
Tensor zeta(const Operand& x, const Operand& q);
Tensor polygamma(const Operand& a, const Operand& x);

}  // namespace math

namespace bitwise {

Tensor bitwise_and(const Operand& x, const Operand& y);
Tensor bitwise_or(const Operand& x, const Operand& y);
Tensor bitwise_xor(const Operand& x, const Operand& y);
Tensor left_shift(const Operand& x, const Operand& y);
Tensor right_shift(const Operand& x, const Operand& y);

}  // namespace bitwise

}  // namespace rw
