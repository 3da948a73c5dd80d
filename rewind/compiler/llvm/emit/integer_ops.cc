// The definitions of kernel/elementwise on integers and bools, which are written for C++'s own types, once
// more in instructions.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/PatternMatch.h>

#include <map>

#include "rewind/compiler/llvm/emit/values.h"

namespace rw::emit {
namespace {

// One op on operands of one type.
class IntegerEmitter {
 public:
  IntegerEmitter(IrBuilder& b, DType dtype, Value* const* args)
      : b_(b), type_(args[0]->getType()), signed_(!is_unsigned(dtype) && dtype != DType::kBool), x_(args) {}

  Value* x() { return x_[0]; }
  Value* y() { return x_[1]; }
  Value* z() { return x_[2]; }
  IrBuilder& b() { return b_; }
  llvm::Type* type() { return type_; }
  unsigned width() { return type_->getScalarSizeInBits(); }
  Value* c(int64_t v) { return llvm::ConstantInt::getSigned(type_, v); }
  Value* less(Value* a, Value* b) { return signed_ ? b_.CreateICmpSLT(a, b) : b_.CreateICmpULT(a, b); }
  Value* less_equal(Value* a, Value* b) { return signed_ ? b_.CreateICmpSLE(a, b) : b_.CreateICmpULE(a, b); }
  Value* pick(Value* condition, Value* a, Value* b) { return b_.CreateSelect(condition, a, b); }

  Value* divisor() { return pick(b_.CreateICmpEQ(y(), c(0)), c(1), y()); }
  Value* trunc_div(Value* by) {
    if (!signed_) return b_.CreateUDiv(x(), by);
    Value* minus = b_.CreateICmpEQ(by, c(-1));
    Value* quotient = b_.CreateSDiv(x(), pick(minus, c(1), by));
    return pick(minus, b_.CreateNeg(quotient), quotient);
  }
  Value* trunc_mod(Value* by) {
    if (!signed_) return b_.CreateURem(x(), by);
    return b_.CreateSRem(x(), pick(b_.CreateICmpEQ(by, c(-1)), c(1), by));
  }
  // The logarithm of a constant divisor that is a positive power of two, else -1.
  int power_of_two() {
    const llvm::APInt* constant = nullptr;
    if (!llvm::PatternMatch::match(y(), llvm::PatternMatch::m_APInt(constant))) return -1;
    if (!constant->isPowerOf2() || (signed_ && !constant->isStrictlyPositive())) return -1;
    return int(constant->logBase2());
  }
  Value* floor_div() {
    if (const int k = power_of_two(); k >= 0)
      return signed_ ? b_.CreateAShr(x(), c(k)) : b_.CreateLShr(x(), c(k));
    Value* by = divisor();
    Value* quotient = trunc_div(by);
    if (!signed_) return quotient;
    Value* crosses =
        b_.CreateAnd(b_.CreateICmpNE(trunc_mod(by), c(0)), b_.CreateICmpSLT(b_.CreateXor(x(), by), c(0)));
    return b_.CreateSub(quotient, b_.CreateZExt(crosses, type_));
  }
  Value* floor_mod() {
    if (power_of_two() >= 0) return b_.CreateAnd(x(), b_.CreateSub(y(), c(1)));
    Value* by = divisor();
    Value* m = trunc_mod(by);
    if (!signed_) return m;
    Value* crosses = b_.CreateAnd(b_.CreateICmpNE(m, c(0)), b_.CreateICmpSLT(b_.CreateXor(m, by), c(0)));
    return pick(crosses, b_.CreateAdd(m, by), m);
  }
  Value* power() {
    Value *base = x(), *result = c(1);
    for (unsigned bit = 0; bit < width(); ++bit) {
      Value* set = b_.CreateTrunc(b_.CreateLShr(y(), c(bit)), type_->getWithNewBitWidth(1));
      result = b_.CreateMul(result, pick(set, base, c(1)));
      base = b_.CreateMul(base, base);
    }
    return result;
  }
  Value* shift_count() {
    Value* most = c(int64_t(width()) - 1);
    Value* count = pick(less(most, y()), most, y());
    return signed_ ? pick(less(y(), c(0)), c(0), count) : count;
  }
  Value* right_shift() {
    return signed_ ? b_.CreateAShr(x(), shift_count()) : b_.CreateLShr(x(), shift_count());
  }
  Value* count_bits() {
    Value* count = b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, x());
    return b_.CreateZExtOrTrunc(count, type_->getWithNewBitWidth(8));
  }
  Value* sign() {
    return b_.CreateSub(b_.CreateZExt(less(c(0), x()), type_), b_.CreateZExt(less(x(), c(0)), type_));
  }
  Value* squared_difference() {
    Value* d = b_.CreateSub(x(), y());
    return b_.CreateMul(d, d);
  }
  Value* clip() {
    Value* below = pick(less(z(), x()), z(), x());
    return pick(less(below, y()), y(), below);
  }
  Value* approximately_equal() {
    Value* distance = pick(less(y(), x()), b_.CreateSub(x(), y()), b_.CreateSub(y(), x()));
    return less(distance, z());
  }

 private:
  IrBuilder& b_;
  llvm::Type* const type_;
  const bool signed_;
  Value* const* const x_;
};

using E = IntegerEmitter;
using Emit = Value* (*)(E& e);

const std::map<std::string_view, Emit>& table() {
  static const auto& map = *new std::map<std::string_view, Emit>{
      {"Abs", [](E& e) { return e.pick(e.less(e.x(), e.c(0)), e.b().CreateNeg(e.x()), e.x()); }},
      {"Neg", [](E& e) { return e.b().CreateNeg(e.x()); }},
      {"Sign", [](E& e) { return e.sign(); }},
      {"Square", [](E& e) { return e.b().CreateMul(e.x(), e.x()); }},
      {"Round", [](E& e) { return e.x(); }},
      {"Invert", [](E& e) { return e.b().CreateNot(e.x()); }},
      {"LogicalNot", [](E& e) { return e.b().CreateNot(e.x()); }},
      {"PopulationCount", [](E& e) { return e.count_bits(); }},
      {"Relu", [](E& e) { return e.pick(e.less(e.c(0), e.x()), e.x(), e.c(0)); }},
      {"Relu6",
       [](E& e) {
         return e.pick(e.less(e.x(), e.c(0)), e.c(0), e.pick(e.less(e.c(6), e.x()), e.c(6), e.x()));
       }},
      {"AddV2", [](E& e) { return e.b().CreateAdd(e.x(), e.y()); }},
      {"Add", [](E& e) { return e.b().CreateAdd(e.x(), e.y()); }},
      {"Sub", [](E& e) { return e.b().CreateSub(e.x(), e.y()); }},
      {"Mul", [](E& e) { return e.b().CreateMul(e.x(), e.y()); }},
      {"Div", [](E& e) { return e.trunc_div(e.divisor()); }},
      {"TruncateDiv", [](E& e) { return e.trunc_div(e.divisor()); }},
      {"FloorDiv", [](E& e) { return e.floor_div(); }},
      {"FloorMod", [](E& e) { return e.floor_mod(); }},
      {"TruncateMod", [](E& e) { return e.trunc_mod(e.divisor()); }},
      {"Mod", [](E& e) { return e.trunc_mod(e.divisor()); }},
      {"Pow", [](E& e) { return e.power(); }},
      {"Maximum", [](E& e) { return e.pick(e.less(e.y(), e.x()), e.x(), e.y()); }},
      {"Minimum", [](E& e) { return e.pick(e.less(e.x(), e.y()), e.x(), e.y()); }},
      {"SquaredDifference", [](E& e) { return e.squared_difference(); }},
      {"Less", [](E& e) { return e.less(e.x(), e.y()); }},
      {"LessEqual", [](E& e) { return e.less_equal(e.x(), e.y()); }},
      {"Greater", [](E& e) { return e.less(e.y(), e.x()); }},
      {"GreaterEqual", [](E& e) { return e.less_equal(e.y(), e.x()); }},
      {"Equal", [](E& e) { return e.b().CreateICmpEQ(e.x(), e.y()); }},
      {"NotEqual", [](E& e) { return e.b().CreateICmpNE(e.x(), e.y()); }},
      {"LogicalAnd", [](E& e) { return e.b().CreateAnd(e.x(), e.y()); }},
      {"LogicalOr", [](E& e) { return e.b().CreateOr(e.x(), e.y()); }},
      {"BitwiseAnd", [](E& e) { return e.b().CreateAnd(e.x(), e.y()); }},
      {"BitwiseOr", [](E& e) { return e.b().CreateOr(e.x(), e.y()); }},
      {"BitwiseXor", [](E& e) { return e.b().CreateXor(e.x(), e.y()); }},
      {"LeftShift", [](E& e) { return e.b().CreateShl(e.x(), e.shift_count()); }},
      {"RightShift", [](E& e) { return e.right_shift(); }},
      {"ReluGrad", [](E& e) { return e.pick(e.less(e.c(0), e.y()), e.x(), e.c(0)); }},
      {"Relu6Grad",
       [](E& e) {
         return e.pick(e.b().CreateAnd(e.less(e.c(0), e.y()), e.less(e.y(), e.c(6))), e.x(), e.c(0));
       }},
      {"ClipByValue", [](E& e) { return e.clip(); }},
      {"ApproximateEqual", [](E& e) { return e.approximately_equal(); }},
  };
  return map;
}

}  // namespace

Value* emit_integer_op(IrBuilder& b, std::string_view op, DType dtype, Value* const* args) {
  const auto it = table().find(op);
  if (it == table().end()) return nullptr;
  IntegerEmitter e(b, dtype, args);
  return it->second(e);
}

bool is_long_integer_op(std::string_view op, DType dtype) { return op == "Pow" && is_integer(dtype); }

}  // namespace rw::emit
