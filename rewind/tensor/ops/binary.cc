#include "rewind/tensor/ops/binary.h"

#include "rewind/base/error.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/ops/unary.h"

namespace rw {
namespace {

Tensor binary(const Op& op, const Operand& x, const Operand& y) {
  const OperandPair p = unify(x, y);
  return apply_one(op, {&p.a, &p.b});
}

// What integers become before a true division.
DType division_type(DType dtype) {
  if (!is_integer(dtype)) return dtype;
  return size_of(dtype) <= 2 ? DType::kFloat32 : DType::kFloat64;
}

Tensor divide_by(const Op& op, const Operand& x, const Operand& y) {
  const OperandPair p = unify(x, y);
  if (!is_integer(p.a.dtype()) || p.a.dtype() != p.b.dtype()) return apply_one(op, {&p.a, &p.b});
  const DType dtype = division_type(p.a.dtype());
  const Tensor a = cast(p.a, dtype);
  const Tensor b = cast(p.b, dtype);
  return apply_one(op, {&a, &b});
}

}  // namespace

#define RW_BINARY(function, op) \
  Tensor function(const Operand& x, const Operand& y) { return binary(RW_OP(op), x, y); }

Tensor add(const Operand& x, const Operand& y) {
  const OperandPair p = unify(x, y);
  if (p.a.defined() && p.a.dtype() == DType::kString) [[unlikely]]
    return apply_one(RW_OP("Add"), {&p.a, &p.b});
  return apply_one(RW_OP("AddV2"), {&p.a, &p.b});
}
RW_BINARY(subtract, "Sub")
RW_BINARY(multiply, "Mul")
Tensor divide(const Operand& x, const Operand& y) { return divide_by(RW_OP("RealDiv"), x, y); }
Tensor truediv(const Operand& x, const Operand& y) { return divide(x, y); }
RW_BINARY(truncatediv, "TruncateDiv")
RW_BINARY(truncatemod, "TruncateMod")
RW_BINARY(pow, "Pow")
RW_BINARY(maximum, "Maximum")
RW_BINARY(minimum, "Minimum")
RW_BINARY(atan2, "Atan2")
RW_BINARY(equal, "Equal")
RW_BINARY(not_equal, "NotEqual")
RW_BINARY(less, "Less")
RW_BINARY(less_equal, "LessEqual")
RW_BINARY(greater, "Greater")
RW_BINARY(greater_equal, "GreaterEqual")
RW_BINARY(logical_and, "LogicalAnd")
RW_BINARY(logical_or, "LogicalOr")

Tensor scalar_mul(const Operand& scalar, const Operand& x) {
  const OperandPair p = unify(scalar, x);
  if (p.a.shape().has_rank() && p.a.rank() != 0)
    fail_invalid("scalar_mul", "the first argument must be a scalar: got shape " + p.a.shape().to_string());
  return multiply(p.a, p.b);
}

Tensor where(const Operand& condition, const Operand& x, const Operand& y) {
  const OperandPair p = unify(x, y);
  return apply_one(RW_OP("SelectV2"), {&condition.tensor(), &p.a, &p.b});
}

Tensor clip_by_value(const Operand& x, const Operand& clip_value_min, const Operand& clip_value_max) {
  const Tensor& value = x.tensor();
  const Tensor clipped = maximum(minimum(value, clip_value_max), clip_value_min);
  if (!clipped.shape().compatible_with(value.shape())) {
    fail_invalid("clip_by_value", "bounds must broadcast to the shape of x, " + value.shape().to_string() +
                                      ": together they have shape " + clipped.shape().to_string());
  }
  return clipped;
}

Tensor add_n(const Operands& list) {
  const std::vector<Tensor>& inputs = list.tensors();
  if (inputs.empty()) fail_invalid("add_n", "there must be at least one tensor");
  if (inputs.size() == 1) return identity(inputs[0]);
  return rw::apply(RW_OP("AddN"), inputs)[0];
}

namespace math {

Tensor accumulate_n(const Operands& inputs) { return add_n(inputs); }
RW_BINARY(floordiv, "FloorDiv")
RW_BINARY(floormod, "FloorMod")
RW_BINARY(mod, "FloorMod")
Tensor divide_no_nan(const Operand& x, const Operand& y) { return divide_by(RW_OP("DivNoNan"), x, y); }
RW_BINARY(multiply_no_nan, "MulNoNan")
RW_BINARY(squared_difference, "SquaredDifference")
Tensor logical_xor(const Operand& x, const Operand& y) {
  return logical_and(logical_or(x, y), logical_not(logical_and(x, y)));
}
RW_BINARY(nextafter, "NextAfter")
RW_BINARY(xlogy, "Xlogy")
RW_BINARY(xlog1py, "Xlog1py")
RW_BINARY(xdivy, "Xdivy")
RW_BINARY(igamma, "Igamma")
RW_BINARY(igammac, "Igammac")
RW_BINARY(zeta, "Zeta")
RW_BINARY(polygamma, "Polygamma")

Tensor betainc(const Operand& a, const Operand& b, const Operand& x) {
  return rw::apply(RW_OP("Betainc"), unify({&a, &b, &x}))[0];
}

}  // namespace math

namespace bitwise {

RW_BINARY(bitwise_and, "BitwiseAnd")
RW_BINARY(bitwise_or, "BitwiseOr")
RW_BINARY(bitwise_xor, "BitwiseXor")
RW_BINARY(left_shift, "LeftShift")
RW_BINARY(right_shift, "RightShift")

}  // namespace bitwise

namespace operators {
namespace {

// bool is logic, integers are bits.
Tensor logic_or_bits(const Op& logic, const Op& bits, const Operand& a, const Operand& b) {
  const OperandPair p = unify(a, b);
  return apply_one(p.a.dtype() == DType::kBool ? logic : bits, {&p.a, &p.b});
}

const Attrs& unfit_shapes_differ() {
  static const Attrs& attrs = *new Attrs({{"incompatible_shape_error", false}});
  return attrs;
}

}  // namespace

Tensor plus(const Operand& a, const Operand& b) { return add(a, b); }
Tensor minus(const Operand& a, const Operand& b) { return subtract(a, b); }
Tensor times(const Operand& a, const Operand& b) { return multiply(a, b); }
Tensor over(const Operand& a, const Operand& b) { return divide(a, b); }
Tensor modulo(const Operand& a, const Operand& b) { return math::floormod(a, b); }
Tensor less(const Operand& a, const Operand& b) { return rw::less(a, b); }
Tensor less_equal(const Operand& a, const Operand& b) { return rw::less_equal(a, b); }
Tensor greater(const Operand& a, const Operand& b) { return rw::greater(a, b); }
Tensor greater_equal(const Operand& a, const Operand& b) { return rw::greater_equal(a, b); }
Tensor minus(const Operand& x) { return negative(x); }

Tensor equals(const Operand& a, const Operand& b) {
  const OperandPair p = unify(a, b);
  return apply_one(RW_OP("Equal"), {&p.a, &p.b}, unfit_shapes_differ());
}
Tensor differs(const Operand& a, const Operand& b) {
  const OperandPair p = unify(a, b);
  return apply_one(RW_OP("NotEqual"), {&p.a, &p.b}, unfit_shapes_differ());
}
Tensor both(const Operand& a, const Operand& b) {
  return logic_or_bits(RW_OP("LogicalAnd"), RW_OP("BitwiseAnd"), a, b);
}
Tensor either(const Operand& a, const Operand& b) {
  return logic_or_bits(RW_OP("LogicalOr"), RW_OP("BitwiseOr"), a, b);
}
Tensor one_of(const Operand& a, const Operand& b) {
  const OperandPair p = unify(a, b);
  if (p.a.dtype() == DType::kBool) return math::logical_xor(p.a, p.b);
  return apply_one(RW_OP("BitwiseXor"), {&p.a, &p.b});
}
Tensor inverse(const Operand& x) {
  return x.dtype() == DType::kBool ? logical_not(x.tensor()) : bitwise::invert(x.tensor());
}

}  // namespace operators

#undef RW_BINARY

}  // namespace rw
