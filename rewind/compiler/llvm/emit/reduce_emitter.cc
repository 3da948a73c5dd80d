// Reductions, in the order of kernel/cpu/isa/reduce.cc: vectors of 64 bytes, four of them from eight vectors
// on, blocks of 4096 elements.
#include <llvm/IR/Constants.h>

#include <limits>

#include "rewind/base/error.h"
#include "rewind/compiler/llvm/emit/kernel_emitter.h"

namespace rw::emit {

using loop::Combine;
using loop::Reduction;
using loop::Stmt;

namespace {

constexpr int64_t kRunBlock = 4096;
constexpr int64_t kOneByOne = 16;  // up to here, one after the other
constexpr int kShortBody = 6;      // statements: a copy for each of the four vectors

bool has_order(const Reduction& r) { return is_floating(r.dtype); }

// The lanes that the order asks for; 0: any number does, -1: two of them disagree.
int lanes_of_order(llvm::ArrayRef<Reduction> reductions) {
  int lanes = 0;
  for (const Reduction& r : reductions) {
    if (!has_order(r)) continue;
    const int own = 64 / int(size_of(r.dtype));
    if (lanes != 0 && lanes != own) return -1;
    lanes = own;
  }
  return lanes;
}

}  // namespace

Value* KernelEmitter::identity(const Reduction& r, int lanes) {
  llvm::Type* type = types_.type(r.dtype, lanes);
  const bool is_float = is_floating(r.dtype);
  const bool is_signed = !is_unsigned(r.dtype);
  const unsigned width = type->getScalarSizeInBits();
  switch (r.combine) {
    case Combine::kSum:
    case Combine::kAny: return llvm::Constant::getNullValue(type);
    case Combine::kProd: return is_float ? llvm::ConstantFP::get(type, 1.0) : llvm::ConstantInt::get(type, 1);
    case Combine::kAll: return llvm::ConstantInt::getTrue(type);
    case Combine::kMax:
      if (is_float) return llvm::ConstantFP::getInfinity(type, true);
      return llvm::ConstantInt::get(
          type, is_signed ? llvm::APInt::getSignedMinValue(width) : llvm::APInt::getMinValue(width));
    case Combine::kMin:
      if (is_float) return llvm::ConstantFP::getInfinity(type, false);
      return llvm::ConstantInt::get(
          type, is_signed ? llvm::APInt::getSignedMaxValue(width) : llvm::APInt::getMaxValue(width));
  }
  return nullptr;
}

Value* KernelEmitter::combine(const Reduction& r, Value* a, Value* x) {
  const bool is_float = is_floating(r.dtype);
  switch (r.combine) {
    case Combine::kSum: return is_float ? float_binary(b_, '+', a, x) : b_.CreateAdd(a, x);
    case Combine::kProd: return is_float ? float_binary(b_, '*', a, x) : b_.CreateMul(a, x);
    case Combine::kAny: return b_.CreateOr(a, x);
    case Combine::kAll: return b_.CreateAnd(a, x);
    case Combine::kMax:
    case Combine::kMin: break;
  }
  const bool max = r.combine == Combine::kMax;
  if (is_float) {
    Value* better = max ? b_.CreateFCmpOGT(x, a) : b_.CreateFCmpOLT(x, a);
    return b_.CreateSelect(b_.CreateFCmpUNO(x, x), x, b_.CreateSelect(better, x, a));
  }
  Value *low = max ? a : x, *high = max ? x : a;
  Value* better = is_unsigned(r.dtype) ? b_.CreateICmpULT(low, high) : b_.CreateICmpSLT(low, high);
  return b_.CreateSelect(better, x, a);
}

// As isa/reduce.cc does: comparisons choose, and what they choose is flushed.
Value* KernelEmitter::finish(const Reduction& r, Value* x) {
  if (!is_floating(r.dtype) || (r.combine != Combine::kMax && r.combine != Combine::kMin)) return x;
  Value* zero = llvm::Constant::getNullValue(x->getType());
  return b_.CreateFAdd(x, b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, zero, x));
}

Value* KernelEmitter::fold(const Reduction& r, Value* vector) {
  auto* type = llvm::dyn_cast<llvm::FixedVectorType>(vector->getType());
  if (!type) return vector;
  for (unsigned half = type->getNumElements() / 2; half > 0; half /= 2) {
    llvm::SmallVector<int, 64> low, high;
    for (unsigned i = 0; i < half; ++i) {
      low.push_back(int(i));
      high.push_back(int(half + i));
    }
    vector = combine(r, b_.CreateShuffleVector(vector, low), b_.CreateShuffleVector(vector, high));
  }
  return b_.CreateExtractElement(vector, uint64_t{0});
}

void KernelEmitter::reduce(const Stmt& s) {
  if (s.extent == 1) return take_only(s);
  if (lanes_.count > 0) return reduce_in_lanes(s);
  Values results;
  if (s.extent == 0) {
    for (const Reduction& r : s.reductions) results.push_back(identity(r, 0));
  } else {
    results = reduce_range(s, i64(0), s.extent);
  }
  for (size_t k = 0; k < results.size(); ++k) {
    values_[size_t(s.reductions[k].result)] = finish(s.reductions[k], results[k]);
    dtypes_[size_t(s.reductions[k].result)] = s.reductions[k].dtype;
  }
}

// The only element as it is: no sum with zero and no product with one, which would flush a denormal.
void KernelEmitter::take_only(const Stmt& s) {
  loops_[size_t(s.loop)] = i64(0);
  block(s.body);
  for (const Reduction& r : s.reductions) {
    values_[size_t(r.result)] = get(r.value, lanes_.count);
    dtypes_[size_t(r.result)] = r.dtype;
  }
}

// Short ones, one after the other in every lane.
void KernelEmitter::reduce_in_lanes(const Stmt& s) {
  RW_CHECK(s.extent <= kOneByOne);
  llvm::SmallVector<llvm::AllocaInst*, 2> sums;
  for (const Reduction& r : s.reductions) {
    sums.push_back(local_slot(types_.type(r.dtype, lanes_.count), true));
    b_.CreateStore(identity(r, lanes_.count), sums.back());
  }
  if (s.extent > 0) {
    loop(s.extent, [&](Value* i) {
      loops_[size_t(s.loop)] = i;
      block(s.body);
      for (size_t k = 0; k < sums.size(); ++k) {
        const Reduction& r = s.reductions[k];
        Value* sum = b_.CreateLoad(sums[k]->getAllocatedType(), sums[k]);
        b_.CreateStore(combine(r, sum, get(r.value, lanes_.count)), sums[k]);
      }
    });
  }
  for (size_t k = 0; k < sums.size(); ++k) {
    const Reduction& r = s.reductions[k];
    values_[size_t(r.result)] = finish(r, b_.CreateLoad(sums[k]->getAllocatedType(), sums[k]));
    dtypes_[size_t(r.result)] = r.dtype;
  }
}

// Blocks first, then their results; levels of them where there are many.
KernelEmitter::Values KernelEmitter::reduce_range(const Stmt& s, Value* base, int64_t n) {
  if (n <= kRunBlock) return reduce_block(s, base, n);
  int64_t span = kRunBlock;
  while (span * kRunBlock < n) span *= kRunBlock;
  const int64_t full = n / span, rest = n % span, count = full + (rest > 0);
  llvm::SmallVector<llvm::AllocaInst*, 2> partial;
  for (const Reduction& r : s.reductions)
    partial.push_back(
        local_slot(llvm::ArrayType::get(types_.memory_type(r.dtype, 0), uint64_t(count)), false));
  const auto keep = [&](Value* at, const Values& values) {
    for (size_t k = 0; k < values.size(); ++k) {
      const DType dtype = s.reductions[k].dtype;
      Value* element = b_.CreateInBoundsGEP(types_.memory_type(dtype, 0), partial[k], at);
      b_.CreateStore(types_.to_memory(dtype, values[k]), element);
    }
  };
  loop(full, [&](Value* i) {
    keep(i, reduce_range(s, b_.CreateNSWAdd(base, b_.CreateNSWMul(i, i64(span))), span));
  });
  if (rest > 0) keep(i64(full), reduce_range(s, b_.CreateNSWAdd(base, i64(full * span)), rest));
  Values results;
  for (size_t k = 0; k < partial.size(); ++k)
    results.push_back(reduce_buffer(s.reductions[k], partial[k], count));
  return results;
}

KernelEmitter::Values KernelEmitter::reduce_block(const Stmt& s, Value* base, int64_t n) {
  const int ordered = lanes_of_order(s.reductions);
  if (ordered < 0 || !can_have_lanes(s.body)) return reduce_buffered(s, base, n);
  const int any = std::max(2, module_.machine().vector_bytes / widest_element(s.body, kernel_));
  const auto chunk = [&](Value* offset, int lanes, Value* mask) {
    lanes_ = {lanes, s.loop, mask};
    loops_[size_t(s.loop)] = b_.CreateNSWAdd(base, offset);
    block(s.body);
    Values values;
    for (const Reduction& r : s.reductions) values.push_back(get(r.value, lanes));
    lanes_ = {};
    return values;
  };
  if (n <= kOneByOne) return reduce_one_by_one(s.reductions, n, chunk);
  return reduce_chunks(s.reductions, ordered > 0 ? ordered : any, n, statement_count(s.body) <= kShortBody,
                       chunk);
}

// Values that cannot be computed in the lanes of the order go through memory.
KernelEmitter::Values KernelEmitter::reduce_buffered(const Stmt& s, Value* base, int64_t n) {
  llvm::SmallVector<llvm::AllocaInst*, 2> buffers;
  for (const Reduction& r : s.reductions)
    buffers.push_back(local_slot(llvm::ArrayType::get(types_.memory_type(r.dtype, 0), uint64_t(n)), false));
  if (!has_loops(s.body)) result_.scalar_loops = true;
  loop(n, [&](Value* i) {
    loops_[size_t(s.loop)] = b_.CreateNSWAdd(base, i);
    block(s.body);
    for (size_t k = 0; k < buffers.size(); ++k) {
      const Reduction& r = s.reductions[k];
      Value* at = b_.CreateInBoundsGEP(types_.memory_type(r.dtype, 0), buffers[k], i);
      b_.CreateStore(types_.to_memory(r.dtype, get(r.value, 0)), at);
    }
  });
  Values results;
  for (size_t k = 0; k < buffers.size(); ++k)
    results.push_back(reduce_buffer(s.reductions[k], buffers[k], n));
  return results;
}

Value* KernelEmitter::reduce_buffer(const Reduction& r, Value* buffer, int64_t n) {
  const llvm::Align align(size_of(r.dtype));
  const auto chunk = [&](Value* offset, int lanes, Value* mask) {
    llvm::Type* type = types_.memory_type(r.dtype, lanes);
    Value* at = b_.CreateInBoundsGEP(types_.memory_type(r.dtype, 0), buffer, offset);
    Value* v = mask ? static_cast<Value*>(
                          b_.CreateMaskedLoad(type, at, align, mask, llvm::Constant::getNullValue(type)))
                    : b_.CreateAlignedLoad(type, at, align);
    return Values{types_.from_memory(r.dtype, v)};
  };
  if (n <= kOneByOne) return reduce_one_by_one(r, n, chunk)[0];
  const int lanes =
      has_order(r) ? 64 / int(size_of(r.dtype)) : module_.machine().vector_bytes / int(size_of(r.dtype));
  return reduce_chunks(r, lanes, n, true, chunk)[0];
}

KernelEmitter::Values KernelEmitter::reduce_one_by_one(llvm::ArrayRef<Reduction> reductions, int64_t n,
                                                       Chunk chunk) {
  const int lanes = n == 1 ? 0 : power_of_two_above(n);
  const Values values = chunk(i64(0), lanes, lanes == 0 || lanes == n ? nullptr : first_lanes(lanes, n));
  Values results;
  for (size_t k = 0; k < values.size(); ++k) {
    Value* sum = identity(reductions[k], 0);
    for (int64_t i = 0; i < n; ++i) {
      Value* x = lanes == 0 ? values[k] : b_.CreateExtractElement(values[k], uint64_t(i));
      sum = combine(reductions[k], sum, x);
    }
    results.push_back(sum);
  }
  return results;
}

KernelEmitter::Values KernelEmitter::reduce_chunks(llvm::ArrayRef<Reduction> reductions, int lanes, int64_t n,
                                                   bool short_body, Chunk chunk) {
  const int64_t wide = lanes;
  const int vectors = n >= 8 * wide ? 4 : 1;
  llvm::SmallVector<std::array<llvm::AllocaInst*, 4>, 2> sums(reductions.size());
  for (size_t k = 0; k < sums.size(); ++k) {
    for (int v = 0; v < vectors; ++v) {
      sums[k][size_t(v)] = local_slot(types_.type(reductions[k].dtype, lanes), true);
      b_.CreateStore(identity(reductions[k], lanes), sums[k][size_t(v)]);
    }
  }
  const auto read = [&](size_t k, int v) {
    llvm::AllocaInst* slot = sums[k][size_t(v)];
    return static_cast<Value*>(b_.CreateLoad(slot->getAllocatedType(), slot));
  };
  const auto add = [&](int v, Value* offset, Value* mask) {
    const Values values = chunk(offset, lanes, mask);
    for (size_t k = 0; k < sums.size(); ++k) {
      Value* x = mask ? b_.CreateSelect(mask, values[k], identity(reductions[k], lanes)) : values[k];
      b_.CreateStore(combine(reductions[k], read(k, v), x), sums[k][size_t(v)]);
    }
  };
  int64_t done = 0;
  if (vectors == 4) {
    done = n / (4 * wide) * (4 * wide);
    if (short_body) {
      loop(i64(0), i64(done), 4 * wide, [&](Value* i) {
        for (int v = 0; v < 4; ++v) add(v, b_.CreateNSWAdd(i, i64(v * wide)), nullptr);
      });
    } else {
      // One copy of the body: the vectors take turns.
      loop(i64(0), i64(done), lanes, [&](Value* i) {
        add(0, i, nullptr);
        for (size_t k = 0; k < sums.size(); ++k) {
          Value* first = read(k, 0);
          for (int v = 0; v < 3; ++v) b_.CreateStore(read(k, v + 1), sums[k][size_t(v)]);
          b_.CreateStore(first, sums[k][3]);
        }
      });
    }
    for (size_t k = 0; k < sums.size(); ++k) {
      const Reduction& r = reductions[k];
      Value* even = combine(r, read(k, 0), read(k, 2));
      Value* odd = combine(r, read(k, 1), read(k, 3));
      b_.CreateStore(combine(r, even, odd), sums[k][0]);
    }
  }
  const int64_t full = (n - done) / lanes * lanes, rest = n - done - full;
  if (full > 0 && rest > 0 && !short_body) {
    loop(i64(done), i64(n), lanes, [&](Value* i) { add(0, i, lanes_below(i, lanes, n)); });
  } else {
    if (full > 0) loop(i64(done), i64(done + full), lanes, [&](Value* i) { add(0, i, nullptr); });
    if (rest > 0) add(0, i64(done + full), first_lanes(lanes, rest));
  }
  Values results;
  for (size_t k = 0; k < sums.size(); ++k) results.push_back(fold(reductions[k], read(k, 0)));
  return results;
}

}  // namespace rw::emit
