#include "rewind/tensor/ops/unary.h"

#include <cmath>
#include <numbers>

#include "rewind/base/error.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/ops/binary.h"

namespace rw {

#define RW_UNARY(function, op) \
  Tensor function(const Operand& x) { return apply_one(RW_OP(op), {&x.tensor()}); }

RW_UNARY(abs, "Abs")
RW_UNARY(negative, "Neg")
RW_UNARY(sign, "Sign")
RW_UNARY(square, "Square")
RW_UNARY(sqrt, "Sqrt")
RW_UNARY(floor, "Floor")
RW_UNARY(exp, "Exp")
RW_UNARY(sin, "Sin")
RW_UNARY(cos, "Cos")
RW_UNARY(tan, "Tan")
RW_UNARY(asin, "Asin")
RW_UNARY(acos, "Acos")
RW_UNARY(atan, "Atan")
RW_UNARY(sinh, "Sinh")
RW_UNARY(cosh, "Cosh")
RW_UNARY(tanh, "Tanh")
RW_UNARY(asinh, "Asinh")
RW_UNARY(acosh, "Acosh")
RW_UNARY(atanh, "Atanh")
RW_UNARY(sigmoid, "Sigmoid")
RW_UNARY(logical_not, "LogicalNot")
RW_UNARY(identity, "Identity")
RW_UNARY(stop_gradient, "StopGradient")

Tensor round(const Operand& x) {
  if (is_integer(x.dtype())) return x.tensor();
  return apply_one(RW_OP("Round"), {&x.tensor()});
}

Tensor cast(const Operand& x, DType dtype) {
  const Tensor& t = x.tensor();
  if (t.defined() && t.dtype() == dtype) return t;
  return apply_one(RW_OP("Cast"), {&t}, {{"DstT", dtype}});
}

namespace {

// Limits of a type as doubles; those of 64-bit integers are the powers of two next to them.
struct Limits {
  double low, high;
};
Limits limits_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat16: return {-65504, 65504};
    case DType::kBfloat16: return {-0x1.fep127, 0x1.fep127};
    case DType::kFloat32: return {-0x1.fffffep127, 0x1.fffffep127};
    case DType::kFloat64: return {-0x1.fffffffffffffp1023, 0x1.fffffffffffffp1023};
    default: {
      const int bits = int(8 * size_of(dtype)) - (is_unsigned(dtype) ? 0 : 1);
      return {is_unsigned(dtype) ? 0 : -std::ldexp(1.0, bits), std::ldexp(1.0, bits) - 1};
    }
  }
}

// The largest number of a float type that is at most 2^bits - 1.
double float_below(DType dtype, int bits) {
  const int digits = dtype == DType::kFloat64    ? 53
                     : dtype == DType::kFloat32  ? 24
                     : dtype == DType::kBfloat16 ? 8
                                                 : 11;
  return bits <= digits ? std::ldexp(1.0, bits) - 1 : std::ldexp(1.0, bits) - std::ldexp(1.0, bits - digits);
}

}  // namespace

Tensor saturate_cast(const Operand& x, DType dtype) {
  Tensor value = x.tensor();
  const DType from = value.dtype();
  constexpr DTypeSet kNumbers = kRealTypes;
  if (!contains(kNumbers, from) || !contains(kNumbers, dtype)) return cast(value, dtype);
  const Limits in = limits_of(from);
  const Limits out = limits_of(dtype);
  if (is_floating(from)) {
    double high = out.high;
    if (is_integer(dtype)) high = float_below(from, int(8 * size_of(dtype)) - (is_unsigned(dtype) ? 0 : 1));
    if (in.low < out.low) value = maximum(value, out.low);
    if (in.high > high) value = minimum(value, high);
  } else if (is_integer(dtype)) {
    if (in.low < out.low) value = maximum(value, int64_t(out.low));
    if (in.high > out.high) {
      // 2^63 - 1 is the one limit that a double does not hold.
      value = minimum(value, dtype == DType::kInt64 ? INT64_MAX : int64_t(out.high));
    }
  }
  return cast(value, dtype);
}

Tensor bitcast(const Operand& input, DType type) {
  return apply_one(RW_OP("Bitcast"), {&input.tensor()}, {{"type", type}});
}

std::vector<Tensor> identity_n(const MixedOperands& input) {
  const Tensors outputs = rw::apply(RW_OP("IdentityN"), input.tensors());
  return {outputs.begin(), outputs.end()};
}

namespace math {

RW_UNARY(ceil, "Ceil")
RW_UNARY(rint, "Rint")
RW_UNARY(rsqrt, "Rsqrt")
RW_UNARY(reciprocal, "Reciprocal")
RW_UNARY(expm1, "Expm1")
RW_UNARY(log, "Log")
RW_UNARY(log1p, "Log1p")
RW_UNARY(is_nan, "IsNan")
RW_UNARY(is_inf, "IsInf")
RW_UNARY(is_finite, "IsFinite")
RW_UNARY(erf, "Erf")
RW_UNARY(erfc, "Erfc")
RW_UNARY(erfinv, "Erfinv")
RW_UNARY(ndtri, "Ndtri")
RW_UNARY(lgamma, "Lgamma")
RW_UNARY(digamma, "Digamma")
RW_UNARY(bessel_i0, "BesselI0")
RW_UNARY(bessel_i0e, "BesselI0e")
RW_UNARY(bessel_i1, "BesselI1")
RW_UNARY(bessel_i1e, "BesselI1e")

Tensor reciprocal_no_nan(const Operand& x) {
  const Tensor& t = x.tensor();
  return divide_no_nan(constant(1, t.dtype()), t);
}
Tensor log_sigmoid(const Operand& x) { return -softplus(-x.tensor()); }
Tensor erfcinv(const Operand& x) { return -ndtri(0.5 * x.tensor()) * std::numbers::sqrt2 * 0.5; }

namespace special {

RW_UNARY(bessel_k0, "BesselK0")
RW_UNARY(bessel_k0e, "BesselK0e")
RW_UNARY(bessel_k1, "BesselK1")
RW_UNARY(bessel_k1e, "BesselK1e")
RW_UNARY(bessel_j0, "BesselJ0")
RW_UNARY(bessel_j1, "BesselJ1")
RW_UNARY(bessel_y0, "BesselY0")
RW_UNARY(bessel_y1, "BesselY1")
RW_UNARY(dawsn, "Dawsn")
RW_UNARY(expint, "Expint")
RW_UNARY(fresnel_cos, "FresnelCos")
RW_UNARY(fresnel_sin, "FresnelSin")
RW_UNARY(spence, "Spence")

}  // namespace special
}  // namespace math

namespace bitwise {

RW_UNARY(invert, "Invert")
RW_UNARY(population_count, "PopulationCount")

}  // namespace bitwise

#undef RW_UNARY

}  // namespace rw
