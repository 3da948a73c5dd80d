// Values of each dtype as LLVM values: float16 and bfloat16 are floats that are already rounded, bool is i1,
// integers are of their width. In memory they lie as everywhere.
#pragma once

#include "rewind/compiler/llvm/emit/scope.h"

namespace rw::emit {

class ValueEmitter {
 public:
  // f16c: the machine converts float16 by itself.
  ValueEmitter(IrBuilder& b, bool f16c) : b_(b), f16c_(f16c) {}

  llvm::Type* type(DType dtype, int lanes) const;
  llvm::Type* memory_type(DType dtype, int lanes) const;
  llvm::Constant* literal(DType dtype, uint64_t bits) const;  // a scalar
  Value* from_memory(DType dtype, Value* v);
  Value* to_memory(DType dtype, Value* v);
  // A float as the nearest float16 or bfloat16; any other value stays.
  Value* round(DType dtype, Value* v);
  Value* cast(DType from, DType to, Value* v);

 private:
  llvm::Type* like(llvm::Type* scalar, Value* v) const;  // with the lanes of v
  Value* half_bits(Value* v);                            // float to i16
  Value* half_value(Value* v);                           // i16 to float
  Value* bfloat16_bits(Value* v);                        // float to i32, the lower half zero
  Value* truncate(Value* v, llvm::Type* to, double limit);
  Value* float_to_integer(DType to, Value* v);

  IrBuilder& b_;
  const bool f16c_;
};

// An op on integers or bools by the definitions of kernel/elementwise; `dtype` is that of the operands.
// nullptr when there is none.
Value* emit_integer_op(IrBuilder& b, std::string_view op, DType dtype, Value* const* args);
// Those too long to be emitted at each use.
bool is_long_integer_op(std::string_view op, DType dtype);

}  // namespace rw::emit
