#include "rewind/compiler/llvm/emit/ir_value.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Intrinsics.h>

#include <string_view>
#include <vector>

#include "rewind/base/error.h"
#include "rewind/compiler/llvm/emit/scope.h"

namespace rw::emit {
namespace {

thread_local EmitScope* scope = nullptr;

IrBuilder& builder() { return EmitScope::current().builder(); }

llvm::Type* float_type(bool is_double) {
  EmitScope& s = EmitScope::current();
  return s.with_lanes(is_double ? s.builder().getDoubleTy() : s.builder().getFloatTy());
}
llvm::Type* bits_type(bool is_double) {
  EmitScope& s = EmitScope::current();
  return s.with_lanes(is_double ? s.builder().getInt64Ty() : s.builder().getInt32Ty());
}

llvm::Intrinsic::ID intrinsic_of(std::string_view name) {
  if (name == "sqrt") return llvm::Intrinsic::sqrt;
  if (name == "abs") return llvm::Intrinsic::fabs;
  if (name == "floor") return llvm::Intrinsic::floor;
  if (name == "ceil") return llvm::Intrinsic::ceil;
  if (name == "trunc") return llvm::Intrinsic::trunc;
  if (name == "rint") return llvm::Intrinsic::rint;
  if (name == "copysign") return llvm::Intrinsic::copysign;
  RW_CHECK(name == "fma");
  return llvm::Intrinsic::fma;
}

}  // namespace

EmitScope::EmitScope(IrBuilder& builder, int lanes) : builder_(builder), lanes_(lanes), previous_(scope) {
  scope = this;
}
EmitScope::~EmitScope() { scope = previous_; }
EmitScope& EmitScope::current() { return *scope; }
llvm::Type* EmitScope::with_lanes(llvm::Type* type) const { return emit::with_lanes(type, lanes_); }

llvm::Type* with_lanes(llvm::Type* type, int lanes) {
  return lanes > 0 ? llvm::FixedVectorType::get(type, unsigned(lanes)) : type;
}

namespace {

// The same value, of which LLVM knows nothing; no instruction.
Value* fence(IrBuilder& b, Value* x) {
  return b.CreateIntrinsic(x->getType(), llvm::Intrinsic::arithmetic_fence, {x});
}

bool is_constant(const Value* x) { return llvm::isa<llvm::Constant>(x); }

// Whether an operand may make the operation a constant, the other operand or its negative.
bool may_vanish(char op, const Value* x) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(x);
  if (!constant) return false;
  if (constant->getType()->isVectorTy()) constant = constant->getSplatValue();
  const auto* number = llvm::dyn_cast_or_null<llvm::ConstantFP>(constant);
  if (!number) return true;
  const llvm::APFloat& v = number->getValueAPF();
  if (op == '+' || op == '-') return v.isZero() || v.isDenormal();
  return v.isExactlyValue(1.0) || v.isExactlyValue(-1.0) || v.isDenormal();
}

// Whether v is the result of arithmetic, or a constant, and so no denormal where they are flushed.
bool is_flushed(const Value* v) {
  if (is_constant(v)) return true;
  if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(v)) {
    const llvm::Intrinsic::ID id = call->getIntrinsicID();
    return id == llvm::Intrinsic::fma || id == llvm::Intrinsic::sqrt;
  }
  const auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(v);
  return binary || llvm::isa<llvm::SIToFPInst, llvm::UIToFPInst, llvm::FPTruncInst, llvm::FPExtInst>(v);
}

}  // namespace

Value* float_binary(IrBuilder& b, char op, Value* x, Value* y) {
  if ((is_constant(x) && is_constant(y)) || may_vanish(op, x)) x = fence(b, x);
  if (may_vanish(op, y)) y = fence(b, y);
  switch (op) {
    case '+': return b.CreateFAdd(x, y);
    case '-': return b.CreateFSub(x, y);
    case '*': return b.CreateFMul(x, y);
    default: RW_CHECK(op == '/'); return b.CreateFDiv(x, y);
  }
}

Value* float_compare(IrBuilder& b, llvm::CmpInst::Predicate predicate, Value* x, Value* y) {
  const auto hidden = [&](Value* v) { return may_vanish('-', v) ? fence(b, v) : v; };
  if (llvm::FCmpInst::isEquality(predicate)) y = hidden(y), x = hidden(x);
  return b.CreateFCmp(predicate, x, y);
}

Value* float_constant(IrBuilder& b, llvm::Constant* c) {
  const auto* number = llvm::dyn_cast<llvm::ConstantFP>(c);
  return number && number->getValueAPF().isDenormal() ? fence(b, c) : c;
}

Value* to_narrower_float(IrBuilder& b, Value* x, llvm::Type* type) {
  return b.CreateFPTrunc(fence(b, x), type);
}

Value* choose(IrBuilder& b, Value* condition, Value* x, Value* y) {
  // What cannot be a denormal may be chosen by min and max as well.
  if (x->getType()->isFPOrFPVectorTy() && !llvm::isa<llvm::ICmpInst>(condition)) {
    if (!is_flushed(x)) x = fence(b, x);
    else if (!is_flushed(y)) y = fence(b, y);
  }
  return b.CreateSelect(condition, x, y);
}

Value* any_lane(IrBuilder& b, Value* condition) {
  return condition->getType()->isVectorTy() ? b.CreateOrReduce(condition) : condition;
}
Value* all_lanes(IrBuilder& b, Value* condition) {
  return condition->getType()->isVectorTy() ? b.CreateAndReduce(condition) : condition;
}

Value* float_literal(bool is_double, double v) { return llvm::ConstantFP::get(float_type(is_double), v); }
Value* bits_literal(bool is_double, uint64_t v) {
  return llvm::ConstantInt::get(bits_type(is_double), is_double ? v : uint32_t(v));
}

Value* binary(char op, Value* a, Value* b) {
  IrBuilder& ir = builder();
  const bool is_float = a->getType()->isFPOrFPVectorTy();
  if (is_float) return float_binary(ir, op, a, b);
  switch (op) {
    case '+': return ir.CreateAdd(a, b);
    case '-': return ir.CreateSub(a, b);
    case '*': return ir.CreateMul(a, b);
    case '&': return ir.CreateAnd(a, b);
    case '|': return ir.CreateOr(a, b);
    default: RW_CHECK(op == '^'); return ir.CreateXor(a, b);
  }
}

Value* shift(Value* a, int count) {
  Value* by = llvm::ConstantInt::get(a->getType(), uint64_t(count < 0 ? -count : count));
  return count < 0 ? builder().CreateLShr(a, by) : builder().CreateShl(a, by);
}

Value* compare(const char* op, Value* a, Value* b) {
  using P = llvm::CmpInst::Predicate;
  const std::string_view name = op;
  if (a->getType()->isFPOrFPVectorTy()) {
    const P p = name == "<"    ? P::FCMP_OLT
                : name == "<=" ? P::FCMP_OLE
                : name == ">"  ? P::FCMP_OGT
                : name == ">=" ? P::FCMP_OGE
                : name == "==" ? P::FCMP_OEQ
                               : P::FCMP_UNE;
    return float_compare(builder(), p, a, b);
  }
  RW_CHECK(name == "<" || name == "==");
  return builder().CreateICmp(name == "<" ? P::ICMP_ULT : P::ICMP_EQ, a, b);
}

Value* logic_not(Value* a) { return builder().CreateNot(a); }
Value* negate(Value* a) { return builder().CreateFNeg(a); }
Value* choose_value(Value* c, Value* a, Value* b) { return choose(builder(), c, a, b); }

Value* call_intrinsic(const char* name, Value* a, Value* b, Value* c) {
  llvm::SmallVector<Value*, 3> args = {a};
  if (b) args.push_back(b);
  if (c) args.push_back(c);
  if (llvm::all_of(args, is_constant)) args[0] = fence(builder(), a);
  return builder().CreateIntrinsic(a->getType(), intrinsic_of(name), args);
}

Value* to_bits(Value* a) {
  return builder().CreateBitCast(a, bits_type(a->getType()->getScalarType()->isDoubleTy()));
}
Value* to_float(Value* a) {
  return builder().CreateBitCast(a, float_type(a->getType()->getScalarSizeInBits() == 64));
}
Value* resize_float(bool to_double, Value* a) {
  if (a->getType()->getScalarType()->isDoubleTy() == to_double) return a;
  return to_double ? builder().CreateFPExt(a, float_type(true))
                   : to_narrower_float(builder(), a, float_type(false));
}
Value* resize_bits(bool to_double, Value* a) { return builder().CreateZExtOrTrunc(a, bits_type(to_double)); }

// The table lives as long as the process, so its address is a constant.
Value* table_value(const double* table, Value* index) {
  IrBuilder& ir = builder();
  Value* base = ir.CreateIntToPtr(ir.getInt64(reinterpret_cast<uintptr_t>(table)), ir.getPtrTy());
  Value* at = ir.CreateGEP(ir.getDoubleTy(), base, index);
  if (!index->getType()->isVectorTy()) return ir.CreateAlignedLoad(ir.getDoubleTy(), at, llvm::Align(8));
  Value* all = llvm::ConstantInt::getTrue(index->getType()->getWithNewBitWidth(1));
  return ir.CreateMaskedGather(float_type(true), at, llvm::Align(8), all);
}

void repeat_loop(int count, Value** state, int n, FunctionRef<Value*(Value**)> step) {
  IrBuilder& ir = builder();
  llvm::BasicBlock* before = ir.GetInsertBlock();
  llvm::Function* function = before->getParent();
  llvm::LLVMContext& context = ir.getContext();
  auto* loop = llvm::BasicBlock::Create(context, "repeat", function);
  auto* after = llvm::BasicBlock::Create(context, "repeated", function);
  llvm::Type* mask_type = EmitScope::current().with_lanes(ir.getInt1Ty());
  ir.CreateBr(loop);
  ir.SetInsertPoint(loop);
  llvm::PHINode* round = ir.CreatePHI(ir.getInt32Ty(), 2);
  llvm::PHINode* active = ir.CreatePHI(mask_type, 2);
  round->addIncoming(ir.getInt32(0), before);
  active->addIncoming(llvm::ConstantInt::getTrue(mask_type), before);
  std::vector<llvm::PHINode*> phis;
  std::vector<Value*> now(static_cast<size_t>(n));
  for (int i = 0; i < n; ++i) {
    phis.push_back(ir.CreatePHI(state[i]->getType(), 2));
    phis.back()->addIncoming(state[i], before);
    now[size_t(i)] = phis.back();
  }
  Value* more = step(now.data());
  llvm::BasicBlock* last = ir.GetInsertBlock();
  Value* next_active = ir.CreateAnd(active, more);
  Value* next_round = ir.CreateAdd(round, ir.getInt32(1));
  for (int i = 0; i < n; ++i) {
    state[i] = ir.CreateSelect(active, now[size_t(i)], phis[size_t(i)]);
    phis[size_t(i)]->addIncoming(state[i], last);
  }
  round->addIncoming(next_round, last);
  active->addIncoming(next_active, last);
  Value* go_on =
      ir.CreateAnd(any_lane(ir, next_active), ir.CreateICmpULT(next_round, ir.getInt32(uint32_t(count))));
  ir.CreateCondBr(go_on, loop, after);
  ir.SetInsertPoint(after);
}

Value* branch_if_all(Value* condition, FunctionRef<Value*()> fast, FunctionRef<Value*()> slow) {
  IrBuilder& ir = builder();
  llvm::Function* function = ir.GetInsertBlock()->getParent();
  auto* fast_block = llvm::BasicBlock::Create(ir.getContext(), "fast", function);
  auto* slow_block = llvm::BasicBlock::Create(ir.getContext(), "slow", function);
  auto* after = llvm::BasicBlock::Create(ir.getContext(), "joined", function);
  ir.CreateCondBr(all_lanes(ir, condition), fast_block, slow_block);
  ir.SetInsertPoint(fast_block);
  Value* a = fast();
  llvm::BasicBlock* fast_end = ir.GetInsertBlock();
  ir.CreateBr(after);
  ir.SetInsertPoint(slow_block);
  Value* b = slow();
  llvm::BasicBlock* slow_end = ir.GetInsertBlock();
  ir.CreateBr(after);
  ir.SetInsertPoint(after);
  llvm::PHINode* result = ir.CreatePHI(a->getType(), 2);
  result->addIncoming(a, fast_end);
  result->addIncoming(b, slow_end);
  return result;
}

}  // namespace rw::emit
