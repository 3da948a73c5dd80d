// Unary elementwise functions, with TensorFlow's names.
#pragma once

#include "rewind/tensor/operand.h"
#include "rewind/tensor/ops/activation.h"

namespace rw {

// Arithmetic and rounding. round goes half to even.
Tensor abs(const Operand& x);
Tensor negative(const Operand& x);
Tensor sign(const Operand& x);
Tensor square(const Operand& x);
Tensor sqrt(const Operand& x);
Tensor round(const Operand& x);
Tensor floor(const Operand& x);
// Exponentials and trigonometry.
Tensor exp(const Operand& x);
Tensor sin(const Operand& x);
Tensor cos(const Operand& x);
Tensor tan(const Operand& x);
Tensor asin(const Operand& x);
Tensor acos(const Operand& x);
Tensor atan(const Operand& x);
Tensor sinh(const Operand& x);
Tensor cosh(const Operand& x);
Tensor tanh(const Operand& x);
Tensor asinh(const Operand& x);
Tensor acosh(const Operand& x);
Tensor atanh(const Operand& x);
Tensor sigmoid(const Operand& x);
Tensor logical_not(const Operand& x);

// Conversions. cast truncates floats to integers; saturate_cast keeps values inside the range of `dtype`.
Tensor cast(const Operand& x, DType dtype);
Tensor saturate_cast(const Operand& x, DType dtype);
// The same bytes as elements of another type; the last axis grows or goes when the sizes differ.
Tensor bitcast(const Operand& input, DType type);
Tensor identity(const Operand& input);
std::vector<Tensor> identity_n(const MixedOperands& input);
// The value of `input`, through which no gradient flows.
Tensor stop_gradient(const Operand& input);

namespace math {

using rw::abs;
using rw::acos;
using rw::acosh;
using rw::asin;
using rw::asinh;
using rw::atan;
using rw::atanh;
using rw::cos;
using rw::cosh;
using rw::exp;
using rw::floor;
using rw::logical_not;
using rw::negative;
using rw::round;
using rw::sigmoid;
using rw::sign;
using rw::sin;
using rw::sinh;
using rw::sqrt;
using rw::square;
using rw::tan;
using rw::tanh;

Tensor ceil(const Operand& x);
Tensor rint(const Operand& x);
Tensor rsqrt(const Operand& x);
Tensor reciprocal(const Operand& x);
Tensor reciprocal_no_nan(const Operand& x);  // 0 where x is 0
Tensor expm1(const Operand& x);
Tensor log(const Operand& x);
Tensor log1p(const Operand& x);
Tensor log_sigmoid(const Operand& x);
Tensor is_nan(const Operand& x);
Tensor is_inf(const Operand& x);
Tensor is_finite(const Operand& x);

// Special functions.
Tensor erf(const Operand& x);
Tensor erfc(const Operand& x);
Tensor erfinv(const Operand& x);
Tensor erfcinv(const Operand& x);
Tensor ndtri(const Operand& x);
Tensor lgamma(const Operand& x);
Tensor digamma(const Operand& x);
Tensor bessel_i0(const Operand& x);
Tensor bessel_i0e(const Operand& x);
Tensor bessel_i1(const Operand& x);
Tensor bessel_i1e(const Operand& x);

namespace special {

using math::bessel_i0;
using math::bessel_i0e;
using math::bessel_i1;
using math::bessel_i1e;
Tensor bessel_k0(const Operand& x);
Tensor bessel_k0e(const Operand& x);
Tensor bessel_k1(const Operand& x);
Tensor bessel_k1e(const Operand& x);
Tensor bessel_j0(const Operand& x);
Tensor bessel_j1(const Operand& x);
Tensor bessel_y0(const Operand& x);
Tensor bessel_y1(const Operand& x);
Tensor dawsn(const Operand& x);
Tensor expint(const Operand& x);
Tensor fresnel_cos(const Operand& x);
Tensor fresnel_sin(const Operand& x);
Tensor spence(const Operand& x);

}  // namespace special

}  // namespace math

namespace bitwise {

Tensor invert(const Operand& x);
Tensor population_count(const Operand& x);  // uint8

}  // namespace bitwise

namespace dtypes {

using rw::cast;
using rw::saturate_cast;

}  // namespace dtypes

}  // namespace rw
