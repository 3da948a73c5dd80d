#include "rewind/compiler/llvm/emit/values.h"

#include <llvm/IR/Constants.h>

#include <bit>

#include "rewind/base/error.h"

namespace rw::emit {

namespace {

bool is_small_float(DType dtype) { return dtype == DType::kFloat16 || dtype == DType::kBfloat16; }

}  // namespace

llvm::Type* ValueEmitter::type(DType dtype, int lanes) const {
  llvm::Type* t = nullptr;
  switch (dtype) {
    case DType::kFloat16:
    case DType::kBfloat16:
    case DType::kFloat32: t = b_.getFloatTy(); break;
    case DType::kFloat64: t = b_.getDoubleTy(); break;
    case DType::kBool: t = b_.getInt1Ty(); break;
    default: t = b_.getIntNTy(unsigned(8 * size_of(dtype)));
  }
  return with_lanes(t, lanes);
}

llvm::Type* ValueEmitter::memory_type(DType dtype, int lanes) const {
  if (dtype == DType::kFloat32 || dtype == DType::kFloat64) return type(dtype, lanes);
  return with_lanes(b_.getIntNTy(unsigned(8 * size_of(dtype))), lanes);
}

llvm::Constant* ValueEmitter::literal(DType dtype, uint64_t bits) const {
  switch (dtype) {
    case DType::kFloat32:
      return llvm::ConstantFP::get(b_.getContext(), llvm::APFloat(std::bit_cast<float>(uint32_t(bits))));
    case DType::kFloat64:
      return llvm::ConstantFP::get(b_.getContext(), llvm::APFloat(std::bit_cast<double>(bits)));
    case DType::kFloat16:
      return llvm::ConstantFP::get(b_.getContext(), llvm::APFloat(half_bits_to_float(uint16_t(bits))));
    case DType::kBfloat16:
      return llvm::ConstantFP::get(b_.getContext(), llvm::APFloat(bfloat16_bits_to_float(uint16_t(bits))));
    case DType::kBool: return b_.getInt1(bits != 0);
    default: {
      const unsigned width = unsigned(8 * size_of(dtype));
      return llvm::ConstantInt::get(b_.getContext(), llvm::APInt(64, bits).trunc(width));
    }
  }
}

llvm::Type* ValueEmitter::like(llvm::Type* scalar, Value* v) const {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(v->getType());
  return with_lanes(scalar, vector ? int(vector->getNumElements()) : 0);
}

Value* ValueEmitter::half_value(Value* v) {
  if (f16c_) return b_.CreateFPExt(b_.CreateBitCast(v, like(b_.getHalfTy(), v)), like(b_.getFloatTy(), v));
  // As half_bits_to_float.
  llvm::Type* i32 = like(b_.getInt32Ty(), v);
  llvm::Type* f32 = like(b_.getFloatTy(), v);
  const auto c = [&](uint32_t x) { return llvm::ConstantInt::get(i32, x); };
  Value* wide = b_.CreateZExt(v, i32);
  Value* sign = b_.CreateShl(b_.CreateAnd(wide, c(0x8000)), c(16));
  Value* magnitude = b_.CreateShl(b_.CreateAnd(wide, c(0x7fff)), c(13));
  Value* normal = b_.CreateAdd(magnitude, c(112u << 23));
  Value* raised = b_.CreateBitCast(b_.CreateAdd(magnitude, c(113u << 23)), f32);
  Value* denormal = b_.CreateBitCast(b_.CreateFSub(raised, llvm::ConstantFP::get(f32, 0x1p-14)), i32);
  Value* finite = b_.CreateSelect(b_.CreateICmpULT(magnitude, c(1u << 23)), denormal, normal);
  Value* special = b_.CreateAdd(normal, c(112u << 23));
  Value* bits = b_.CreateSelect(b_.CreateICmpUGE(magnitude, c(0x0f800000)), special, finite);
  return b_.CreateBitCast(b_.CreateOr(sign, bits), f32);
}

Value* ValueEmitter::half_bits(Value* v) {
  llvm::Type* i16 = like(b_.getInt16Ty(), v);
  if (f16c_) return b_.CreateBitCast(b_.CreateFPTrunc(v, like(b_.getHalfTy(), v)), i16);
  // As float_to_half_bits.
  llvm::Type* i32 = like(b_.getInt32Ty(), v);
  llvm::Type* f32 = v->getType();
  const auto c = [&](uint32_t x) { return llvm::ConstantInt::get(i32, x); };
  Value* bits = b_.CreateBitCast(v, i32);
  Value* sign = b_.CreateAnd(b_.CreateLShr(bits, c(16)), c(0x8000));
  Value* magnitude = b_.CreateAnd(bits, c(0x7fffffff));
  Value* small = b_.CreateFAdd(b_.CreateBitCast(magnitude, f32), llvm::ConstantFP::get(f32, 0.5));
  Value* denormal = b_.CreateSub(b_.CreateBitCast(small, i32), c(0x3f000000));
  Value* odd = b_.CreateAnd(b_.CreateLShr(magnitude, c(13)), c(1));
  Value* normal = b_.CreateLShr(b_.CreateAdd(b_.CreateAdd(magnitude, c(0xfff - (112u << 23))), odd), c(13));
  Value* not_finite = b_.CreateSelect(b_.CreateICmpUGT(magnitude, c(0x7f800000)), c(0x7e00), c(0x7c00));
  Value* finite = b_.CreateSelect(b_.CreateICmpULT(magnitude, c(113u << 23)), denormal, normal);
  Value* rounded = b_.CreateSelect(b_.CreateICmpUGE(magnitude, c(0x47800000)), not_finite, finite);
  return b_.CreateTrunc(b_.CreateOr(sign, rounded), i16);
}

// As float_to_bfloat16_bits.
Value* ValueEmitter::bfloat16_bits(Value* v) {
  llvm::Type* i32 = like(b_.getInt32Ty(), v);
  const auto c = [&](uint32_t x) { return llvm::ConstantInt::get(i32, x); };
  Value* bits = b_.CreateBitCast(v, i32);
  Value* odd = b_.CreateAnd(b_.CreateLShr(bits, c(16)), c(1));
  Value* rounded = b_.CreateAdd(b_.CreateAdd(bits, c(0x7fff)), odd);
  Value* nan = b_.CreateOr(b_.CreateAnd(bits, c(0x80000000)), c(0x7fc00000));
  return b_.CreateAnd(b_.CreateSelect(b_.CreateFCmpUNO(v, v), nan, rounded), c(0xffff0000));
}

Value* ValueEmitter::from_memory(DType dtype, Value* v) {
  if (dtype == DType::kBool) return b_.CreateICmpNE(v, llvm::Constant::getNullValue(v->getType()));
  if (dtype == DType::kFloat16) return half_value(v);
  if (dtype == DType::kBfloat16) {
    llvm::Type* i32 = like(b_.getInt32Ty(), v);
    return b_.CreateBitCast(b_.CreateShl(b_.CreateZExt(v, i32), llvm::ConstantInt::get(i32, 16)),
                            like(b_.getFloatTy(), v));
  }
  return v;
}

// Values of 16-bit floats are rounded already: nothing is lost.
Value* ValueEmitter::to_memory(DType dtype, Value* v) {
  if (dtype == DType::kBool) return b_.CreateZExt(v, like(b_.getInt8Ty(), v));
  if (dtype == DType::kFloat16) return half_bits(v);
  if (dtype == DType::kBfloat16) {
    llvm::Type* i32 = like(b_.getInt32Ty(), v);
    return b_.CreateTrunc(b_.CreateLShr(b_.CreateBitCast(v, i32), llvm::ConstantInt::get(i32, 16)),
                          like(b_.getInt16Ty(), v));
  }
  return v;
}

Value* ValueEmitter::round(DType dtype, Value* v) {
  if (dtype == DType::kFloat16) return half_value(half_bits(v));
  if (dtype == DType::kBfloat16) return b_.CreateBitCast(bfloat16_bits(v), v->getType());
  return v;
}

// Truncation; the smallest integer where v is not in [-limit, limit).
Value* ValueEmitter::truncate(Value* v, llvm::Type* to, double limit) {
  llvm::Type* from = v->getType();
  Value* fits = b_.CreateAnd(b_.CreateFCmpOGE(v, llvm::ConstantFP::get(from, -limit)),
                             b_.CreateFCmpOLT(v, llvm::ConstantFP::get(from, limit)));
  Value* value = b_.CreateFPToSI(b_.CreateSelect(fits, v, llvm::Constant::getNullValue(from)), to);
  const unsigned width = to->getScalarSizeInBits();
  return b_.CreateSelect(fits, value, llvm::ConstantInt::get(to, llvm::APInt::getSignedMinValue(width)));
}

// As kernel/cpu/isa/cast.cc.
Value* ValueEmitter::float_to_integer(DType to, Value* v) {
  llvm::Type* type = like(this->type(to, 0), v);
  const unsigned width = type->getScalarSizeInBits();
  if (width < 32) {
    llvm::Type* i32 = like(b_.getInt32Ty(), v);
    const bool is_signed = !is_unsigned(to);
    const int64_t low = is_signed ? -(int64_t{1} << (width - 1)) : 0;
    const int64_t high = is_signed ? -low - 1 : (int64_t{1} << width) - 1;
    Value* value = truncate(v, i32, 0x1p31);
    Value* least = llvm::ConstantInt::getSigned(i32, low);
    Value* most = llvm::ConstantInt::getSigned(i32, high);
    value = b_.CreateSelect(b_.CreateICmpSLT(value, least), least, value);
    value = b_.CreateSelect(b_.CreateICmpSGT(value, most), most, value);
    return b_.CreateTrunc(value, type);
  }
  const double half = width == 32 ? 0x1p31 : 0x1p63;
  if (!is_unsigned(to)) return truncate(v, type, half);
  llvm::Type* from = v->getType();
  Value* limit = llvm::ConstantFP::get(from, half);
  Value* upper =
      b_.CreateAnd(b_.CreateFCmpOGE(v, limit), b_.CreateFCmpOLT(v, llvm::ConstantFP::get(from, half + half)));
  Value* value = truncate(b_.CreateSelect(upper, b_.CreateFSub(v, limit), v), type, half);
  Value* top = llvm::ConstantInt::get(type, llvm::APInt::getSignedMinValue(width));
  return b_.CreateSelect(upper, b_.CreateAdd(value, top), value);
}

Value* ValueEmitter::cast(DType from, DType to, Value* v) {
  if (from == to) return v;
  const bool from_float = is_floating(from), to_float = is_floating(to);
  if (to == DType::kBool) {
    if (from == DType::kBfloat16)  // its denormals are true, and as floats they would be flushed
      v = b_.CreateShl(b_.CreateBitCast(v, like(b_.getInt32Ty(), v)), 1);
    Value* zero = llvm::Constant::getNullValue(v->getType());
    return from_float && from != DType::kBfloat16 ? float_compare(b_, llvm::CmpInst::FCMP_UNE, v, zero)
                                                  : b_.CreateICmpNE(v, zero);
  }
  if (from_float && !to_float) return float_to_integer(to, v);
  if (!from_float && !to_float) {
    llvm::Type* type = like(this->type(to, 0), v);
    const bool zero_extend = from == DType::kBool || is_unsigned(from);
    return zero_extend ? b_.CreateZExtOrTrunc(v, type) : b_.CreateSExtOrTrunc(v, type);
  }
  // Into the 16-bit floats by way of float.
  llvm::Type* type = like(to == DType::kFloat64 ? b_.getDoubleTy() : b_.getFloatTy(), v);
  if (!from_float) {
    const bool zero_extend = from == DType::kBool || is_unsigned(from);
    v = zero_extend ? b_.CreateUIToFP(v, type) : b_.CreateSIToFP(v, type);
  } else if (v->getType() != type) {
    v = to == DType::kFloat64 ? b_.CreateFPExt(v, type) : to_narrower_float(b_, v, type);
  }
  return is_small_float(to) ? round(to, v) : v;
}

}  // namespace rw::emit
