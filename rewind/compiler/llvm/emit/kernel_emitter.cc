#include "rewind/compiler/llvm/emit/kernel_emitter.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>

#include <bit>

#include "rewind/base/error.h"
#include "rewind/compiler/llvm/emit/float_ops.h"

namespace rw::emit {

using loop::Affine;
using loop::Block;
using loop::LoopKind;
using loop::Stmt;
using loop::Var;

KernelEmitter::KernelEmitter(ModuleEmitter& module, const loop::Kernel& kernel, llvm::Function* function)
    : module_(module),
      kernel_(kernel),
      function_(function),
      b_(llvm::BasicBlock::Create(function->getContext(), "entry", function)),
      types_(b_, module.machine().f16c),
      values_(size_t(kernel.num_vars)),
      dtypes_(size_t(kernel.num_vars)),
      locals_(size_t(kernel.num_locals)),
      loops_(size_t(kernel.num_loops)),
      result_{function, {}, false} {}

KernelFunction KernelEmitter::run() {
  // The end of the entry block stays: slots of locals go before it.
  llvm::BasicBlock* start = new_block("start");
  entry_end_ = b_.CreateBr(start);
  b_.SetInsertPoint(entry_end_);
  int64_t argument = 0;
  for (const loop::BufferDef& d : kernel_.buffers) {
    if (d.role == loop::Role::kScratch) {
      llvm::Type* type = llvm::ArrayType::get(types_.memory_type(d.dtype, 0), uint64_t(d.size));
      llvm::AllocaInst* slot = b_.CreateAlloca(type);
      slot->setAlignment(llvm::Align(64));
      buffers_.push_back(slot);
    } else {
      Value* at = b_.CreateConstInBoundsGEP1_64(b_.getPtrTy(), function_->getArg(0), uint64_t(argument++));
      buffers_.push_back(b_.CreateLoad(b_.getPtrTy(), at));
    }
  }
  b_.SetInsertPoint(start);
  block(kernel_.body);
  b_.CreateRet(i64(0));
  return std::move(result_);
}

// ---- statements ----

void KernelEmitter::block(const Block& block) {
  for (const Stmt& s : block) statement(s);
}

void KernelEmitter::statement(const Stmt& s) {
  if (s.result >= 0) dtypes_[size_t(s.result)] = s.dtype;
  switch (s.code) {
    case loop::Code::kConst:
      values_[size_t(s.result)] = float_constant(b_, types_.literal(s.dtype, s.literal));
      return;
    case loop::Code::kIndex: return index(s);
    case loop::Code::kLoad: return load(s);
    case loop::Code::kStore: return store(s);
    case loop::Code::kOp: values_[size_t(s.result)] = op(s); return;
    case loop::Code::kLocal:
      locals_[size_t(s.local)] = local_slot(types_.type(s.dtype, lanes_.count), true);
      [[fallthrough]];
    case loop::Code::kSet: {
      llvm::AllocaInst* slot = locals_[size_t(s.local)];
      const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(slot->getAllocatedType());
      b_.CreateStore(get(s.args[0], vector ? int(vector->getNumElements()) : 0), slot);
      return;
    }
    case loop::Code::kGet: {
      llvm::AllocaInst* slot = locals_[size_t(s.local)];
      values_[size_t(s.result)] = b_.CreateLoad(slot->getAllocatedType(), slot);
      return;
    }
    case loop::Code::kFor: return s.kind == LoopKind::kVector ? vector_loop(s) : serial_loop(s);
    case loop::Code::kReduce: return reduce(s);
    case loop::Code::kWhile: return while_loop(s);
    case loop::Code::kIf: return branch(s);
    case loop::Code::kFail: return fail(s);
  }
}

void KernelEmitter::index(const Stmt& s) {
  values_[size_t(s.result)] = lanes_.count > 0 ? places(s.at) : place(s.at);
  if (lanes_.count > 0 && lane_step(s.at) == 0 && (s.at.dynamic < 0 || !has_lanes(s.at.dynamic)))
    values_[size_t(s.result)] = place(s.at);
}

void KernelEmitter::load(const Stmt& s) {
  const llvm::Align align(size_of(s.dtype));
  llvm::Type* element = types_.memory_type(s.dtype, 0);
  Value* buffer = buffers_[size_t(s.buffer)];
  const bool scattered = s.at.dynamic >= 0 && has_lanes(s.at.dynamic);
  const int64_t step = lane_step(s.at);
  Value* v = nullptr;
  if (lanes_.count == 0 || (step == 0 && !scattered)) {
    v = b_.CreateAlignedLoad(element, b_.CreateInBoundsGEP(element, buffer, place(s.at)), align);
  } else if (step == 1 && !scattered) {
    llvm::Type* type = types_.memory_type(s.dtype, lanes_.count);
    Value* at = b_.CreateInBoundsGEP(element, buffer, place(s.at));
    if (lanes_.mask)
      v = b_.CreateMaskedLoad(type, at, align, lanes_.mask, llvm::Constant::getNullValue(type));
    else v = b_.CreateAlignedLoad(type, at, align);
  } else {
    llvm::Type* type = types_.memory_type(s.dtype, lanes_.count);
    Value* at = b_.CreateInBoundsGEP(element, buffer, places(s.at));
    v = b_.CreateMaskedGather(type, at, align, all_or_mask(), llvm::Constant::getNullValue(type));
  }
  values_[size_t(s.result)] = types_.from_memory(s.dtype, v);
}

void KernelEmitter::store(const Stmt& s) {
  const llvm::Align align(size_of(s.dtype));
  llvm::Type* element = types_.memory_type(s.dtype, 0);
  Value* buffer = buffers_[size_t(s.buffer)];
  Value* v = types_.to_memory(s.dtype, get(s.args[0], lanes_.count));
  const bool scattered = s.at.dynamic >= 0 && has_lanes(s.at.dynamic);
  if (lanes_.count == 0 || (lane_step(s.at) == 1 && !scattered)) {
    Value* at = b_.CreateInBoundsGEP(element, buffer, place(s.at));
    if (lanes_.mask) b_.CreateMaskedStore(v, at, align, lanes_.mask);
    else b_.CreateAlignedStore(v, at, align);
    return;
  }
  b_.CreateMaskedScatter(v, b_.CreateInBoundsGEP(element, buffer, places(s.at)), align, all_or_mask());
}

Value* KernelEmitter::op(const Stmt& s) {
  const DType in = dtypes_[size_t(s.args[0])];
  int lanes = 0;
  for (Var v : s.args)
    if (has_lanes(v)) lanes = lanes_.count;
  llvm::SmallVector<Value*, 3> args;
  for (Var v : s.args) args.push_back(get(v, lanes));
  if (s.op == "Cast") return types_.cast(in, s.dtype, args[0]);
  if (s.op == "Select") return choose(b_, args[0], args[1], args[2]);
  if (is_floating(in)) {
    const FloatOp* definition = find_float_op(s.op);
    RW_CHECK(definition);
    Value* v = nullptr;
    if (definition->inlined) {
      EmitScope scope(b_, lanes);
      v = definition->emit[in == DType::kFloat64](args.data());
    } else {
      v = b_.CreateCall(module_.op_function(s.op, in, lanes, args, args[0]->getType()), args);
    }
    return definition->returns_bool ? v : types_.round(in, v);
  }
  if (is_long_integer_op(s.op, in))
    return b_.CreateCall(module_.op_function(s.op, in, lanes, args, args[0]->getType()), args);
  Value* v = emit_integer_op(b_, s.op, in, args.data());
  RW_CHECK(v);
  return v;
}

void KernelEmitter::serial_loop(const Stmt& s) {
  if (s.extent == 0) return;
  const auto body = [&](Value* i) {
    loops_[size_t(s.loop)] = i;
    block(s.body);
  };
  if (lanes_.count == 0 && !has_loops(s.body)) result_.scalar_loops = true;
  if (s.kind == LoopKind::kParallel) {
    loop(function_->getArg(1), function_->getArg(2), 1, body, true);
  } else {
    loop(s.extent, body);
  }
}

void KernelEmitter::vector_loop(const Stmt& s) {
  if (s.extent == 0) return;
  if (s.extent == 1 || !can_have_lanes(s.body)) return serial_loop(s);
  const int widest = module_.machine().vector_bytes / widest_element(s.body, kernel_);
  const int lanes = std::min(std::max(widest, 2), power_of_two_above(s.extent));
  const auto at = [&](Value* base, Value* mask) {
    lanes_ = {lanes, s.loop, mask};
    loops_[size_t(s.loop)] = base;
    block(s.body);
    lanes_ = {};
  };
  const int64_t full = s.extent / lanes * lanes, rest = s.extent - full;
  // Long bodies are emitted once, with a mask.
  constexpr int kLongBody = 48;
  if (full > 0 && rest > 0 && statement_count(s.body) > kLongBody) {
    loop(i64(0), i64(s.extent), lanes, [&](Value* i) { at(i, lanes_below(i, lanes, s.extent)); });
    return;
  }
  if (full > 0) loop(i64(0), i64(full), lanes, [&](Value* i) { at(i, nullptr); });
  if (rest > 0) at(i64(full), first_lanes(lanes, rest));
}

void KernelEmitter::while_loop(const Stmt& s) {
  if (!has_loops(s.body) && !has_loops(s.condition)) result_.scalar_loops = true;
  llvm::BasicBlock* head = new_block("while");
  llvm::BasicBlock* body = new_block("do");
  llvm::BasicBlock* after = new_block("done");
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  block(s.condition);
  b_.CreateCondBr(get(s.args[0], 0), body, after);
  b_.SetInsertPoint(body);
  block(s.body);
  b_.CreateBr(head);
  b_.SetInsertPoint(after);
}

void KernelEmitter::branch(const Stmt& s) {
  llvm::BasicBlock* then = new_block("then");
  llvm::BasicBlock* after = new_block("endif");
  llvm::BasicBlock* otherwise = s.other.empty() ? after : new_block("else");
  b_.CreateCondBr(get(s.args[0], 0), then, otherwise);
  b_.SetInsertPoint(then);
  block(s.body);
  b_.CreateBr(after);
  if (!s.other.empty()) {
    b_.SetInsertPoint(otherwise);
    block(s.other);
    b_.CreateBr(after);
  }
  b_.SetInsertPoint(after);
}

void KernelEmitter::fail(const Stmt& s) {
  b_.CreateRet(b_.getInt64(s.literal));
  b_.SetInsertPoint(new_block("behind"));  // never reached
}

// ---- values and places ----

Value* KernelEmitter::spread(Value* v, int lanes) {
  return lanes == 0 || v->getType()->isVectorTy() ? v : b_.CreateVectorSplat(unsigned(lanes), v);
}

Value* KernelEmitter::get(Var v, int lanes) { return spread(values_[size_t(v)], lanes); }

Value* KernelEmitter::place(const Affine& at) {
  Value* sum = nullptr;
  const auto add = [&](Value* v) { sum = sum ? b_.CreateNSWAdd(sum, v) : v; };
  for (const Affine::Term& t : at.terms) {
    Value* i = loops_[size_t(t.loop)];
    add(t.step == 1 ? i : b_.CreateNSWMul(i, i64(t.step)));
  }
  if (at.dynamic >= 0 && !has_lanes(at.dynamic)) add(values_[size_t(at.dynamic)]);
  if (at.constant != 0 || !sum) add(i64(at.constant));
  return sum;
}

int64_t KernelEmitter::lane_step(const Affine& at) const {
  for (const Affine::Term& t : at.terms)
    if (t.loop == lanes_.loop) return t.step;
  return 0;
}

Value* KernelEmitter::lane_numbers(int lanes, llvm::Type* type) {
  llvm::SmallVector<llvm::Constant*, 64> numbers;
  for (int i = 0; i < lanes; ++i) numbers.push_back(llvm::ConstantInt::get(type, uint64_t(i)));
  return llvm::ConstantVector::get(numbers);
}

Value* KernelEmitter::places(const Affine& at) {
  Value* sum = spread(place(at), lanes_.count);
  if (const int64_t step = lane_step(at); step != 0)
    sum = b_.CreateAdd(
        sum, b_.CreateMul(lane_numbers(lanes_.count, b_.getInt64Ty()), spread(i64(step), lanes_.count)));
  if (at.dynamic >= 0 && has_lanes(at.dynamic)) sum = b_.CreateAdd(sum, values_[size_t(at.dynamic)]);
  return sum;
}

Value* KernelEmitter::first_lanes(int lanes, int64_t count) {
  llvm::SmallVector<llvm::Constant*, 64> bits;
  for (int i = 0; i < lanes; ++i) bits.push_back(b_.getInt1(i < count));
  return llvm::ConstantVector::get(bits);
}

Value* KernelEmitter::lanes_below(Value* offset, int lanes, int64_t end) {
  // The number of lanes left fits in 32 bits where it matters.
  Value* left = b_.CreateSub(i64(end), offset);
  Value* capped = b_.CreateSelect(b_.CreateICmpULT(left, i64(lanes)), left, i64(lanes));
  Value* wide = spread(b_.CreateTrunc(capped, b_.getInt32Ty()), lanes);
  return b_.CreateICmpULT(lane_numbers(lanes, b_.getInt32Ty()), wide);
}

Value* KernelEmitter::all_or_mask() {
  return lanes_.mask ? lanes_.mask : first_lanes(lanes_.count, lanes_.count);
}

llvm::AllocaInst* KernelEmitter::local_slot(llvm::Type* type, bool promotable) {
  auto* slot = new llvm::AllocaInst(type, 0, "", entry_end_->getIterator());
  if (promotable) result_.locals.push_back(slot);
  else slot->setAlignment(llvm::Align(64));
  return slot;
}

// ---- loops ----

llvm::BasicBlock* KernelEmitter::new_block(const char* name) {
  return llvm::BasicBlock::Create(function_->getContext(), name, function_);
}

void KernelEmitter::loop(Value* begin, Value* end, int64_t step, FunctionRef<void(Value*)> body,
                         bool may_be_empty) {
  const auto* first = llvm::dyn_cast<llvm::ConstantInt>(begin);
  const auto* last = llvm::dyn_cast<llvm::ConstantInt>(end);
  if (first && last && first->getSExtValue() + step >= last->getSExtValue()) return body(begin);
  llvm::BasicBlock* before = b_.GetInsertBlock();
  llvm::BasicBlock* head = new_block("loop");
  llvm::BasicBlock* after = new_block("end");
  if (may_be_empty) b_.CreateCondBr(b_.CreateICmpSLT(begin, end), head, after);
  else b_.CreateBr(head);
  b_.SetInsertPoint(head);
  llvm::PHINode* i = b_.CreatePHI(b_.getInt64Ty(), 2);
  i->addIncoming(begin, before);
  body(i);
  Value* next = b_.CreateNSWAdd(i, i64(step));
  i->addIncoming(next, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpSLT(next, end), head, after);
  b_.SetInsertPoint(after);
}

void KernelEmitter::loop(int64_t count, FunctionRef<void(Value*)> body) { loop(i64(0), i64(count), 1, body); }

// ---- facts about blocks ----

bool can_have_lanes(const Block& block) {
  for (const Stmt& s : block) {
    if (s.code == loop::Code::kWhile || s.code == loop::Code::kIf) return false;
    if (s.code == loop::Code::kReduce && s.extent > 16) return false;
    if (!can_have_lanes(s.body)) return false;
  }
  return true;
}

int statement_count(const Block& block) {
  int count = 0;
  for (const Stmt& s : block)
    count += 1 + statement_count(s.body) + statement_count(s.other) + statement_count(s.condition);
  return count;
}

bool has_loops(const Block& block) {
  for (const Stmt& s : block) {
    if (s.code == loop::Code::kFor || s.code == loop::Code::kReduce || s.code == loop::Code::kWhile)
      return true;
    if (has_loops(s.body) || has_loops(s.other)) return true;
  }
  return false;
}

int widest_element(const Block& block, const loop::Kernel& kernel) {
  int widest = 1;
  for (const Stmt& s : block) {
    if (s.code == loop::Code::kIndex || s.code == loop::Code::kConst) continue;
    int bytes = 1;
    if (s.dtype == DType::kFloat16 || s.dtype == DType::kBfloat16) bytes = 4;
    else if (s.dtype != DType::kInvalid) bytes = int(size_of(s.dtype));
    widest = std::max({widest, bytes, widest_element(s.body, kernel)});
  }
  return widest;
}

int power_of_two_above(int64_t n) { return int(std::bit_ceil(uint64_t(std::min<int64_t>(n, 64)))); }

}  // namespace rw::emit
