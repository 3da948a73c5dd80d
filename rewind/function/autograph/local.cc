#include "rewind/function/autograph/local.h"

#include "rewind/base/error.h"
#include "rewind/function/autograph/contents.h"
#include "rewind/function/autograph/return_slot.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/ops/creation.h"
#include "rewind/tensor/ops/unary.h"

namespace rw::autograph::detail {

// TruncateMod has no unsigned integers.
static Tensor remainder(const Tensor& a, const Tensor& b) {
  if (!is_unsigned(a.dtype())) return apply_one(RW_OP("TruncateMod"), {&a, &b});
  const Tensor quotient = apply_one(RW_OP("TruncateDiv"), {&a, &b});
  const Tensor multiple = apply_one(RW_OP("Mul"), {&quotient, &b});
  return apply_one(RW_OP("Sub"), {&a, &multiple});
}

Tensor apply_number(NumberOp op, const Tensor& a, const Tensor& b) {
  const bool real = is_floating(a.dtype());
  switch (op) {
    case NumberOp::kAdd: return apply_one(RW_OP("AddV2"), {&a, &b});
    case NumberOp::kSub: return apply_one(RW_OP("Sub"), {&a, &b});
    case NumberOp::kMul: return apply_one(RW_OP("Mul"), {&a, &b});
    case NumberOp::kDiv:
      return real ? apply_one(RW_OP("RealDiv"), {&a, &b}) : apply_one(RW_OP("TruncateDiv"), {&a, &b});
    case NumberOp::kMod: return remainder(a, b);
    case NumberOp::kAnd: return apply_one(RW_OP("BitwiseAnd"), {&a, &b});
    case NumberOp::kOr: return apply_one(RW_OP("BitwiseOr"), {&a, &b});
    case NumberOp::kXor: return apply_one(RW_OP("BitwiseXor"), {&a, &b});
    case NumberOp::kShiftLeft: return apply_one(RW_OP("LeftShift"), {&a, &b});
    case NumberOp::kShiftRight: return apply_one(RW_OP("RightShift"), {&a, &b});
    case NumberOp::kEqual: return apply_one(RW_OP("Equal"), {&a, &b});
    case NumberOp::kNotEqual: return apply_one(RW_OP("NotEqual"), {&a, &b});
    case NumberOp::kLess: return apply_one(RW_OP("Less"), {&a, &b});
    case NumberOp::kLessEqual: return apply_one(RW_OP("LessEqual"), {&a, &b});
    case NumberOp::kGreater: return apply_one(RW_OP("Greater"), {&a, &b});
    case NumberOp::kGreaterEqual: return apply_one(RW_OP("GreaterEqual"), {&a, &b});
  }
  return {};
}

// Neg has no unsigned integers, which wrap.
Tensor negate_number(const Tensor& a) {
  if (!is_unsigned(a.dtype())) return apply_one(RW_OP("Neg"), {&a});
  const Tensor zero = zeros_like(a);
  return apply_one(RW_OP("Sub"), {&zero, &a});
}
Tensor invert_number(const Tensor& a) { return apply_one(RW_OP("Invert"), {&a}); }
Tensor not_number(const Tensor& a) { return apply_one(RW_OP("LogicalNot"), {&a}); }
Tensor convert_number(const Tensor& a, DType dtype) { return cast(a, dtype); }
Tensor number_constant(const void* value, DType dtype) { return tensor_from_bytes(value, dtype, {}); }

void fail_staged_number(DType dtype) {
  try {
    fail_precondition(
        "autograph",
        "C++ has no value for this " + std::string(name_of(dtype)) +
            ": a tensor decides it, and while a function is traced that is of the graph; make it "
            "an rw::Tensor, and what needs the number an op on tensors");
  } catch (const Error& e) { rethrow_at_users_line(e); }
}

void fail_no_return() {
  fail_precondition("autograph", "the function ends without a return: every path must return a value");
}

}  // namespace rw::autograph::detail
