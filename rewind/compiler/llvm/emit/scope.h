// Where instructions go, and how wide their values are.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "rewind/base/dtype.h"

namespace rw::emit {

using IrBuilder = llvm::IRBuilder<>;
using llvm::Value;

// While it lives, ir_value.h's operations of this thread emit by this builder. lanes == 0 is a scalar.
class EmitScope {
 public:
  EmitScope(IrBuilder& builder, int lanes);
  ~EmitScope();
  EmitScope(const EmitScope&) = delete;
  EmitScope& operator=(const EmitScope&) = delete;

  static EmitScope& current();
  IrBuilder& builder() { return builder_; }
  llvm::Type* with_lanes(llvm::Type* type) const;

 private:
  IrBuilder& builder_;
  const int lanes_;
  EmitScope* const previous_;
};

llvm::Type* with_lanes(llvm::Type* type, int lanes);
// LLVM drops an operation that changes no number (x * 1, x - 0, a float64 and back) though it flushes
// denormals, folds constants as if nothing did, compares what was made of bits by its bits, and makes choices
// between compared values min and max, which flush. These are as base/math/primitives.h wants them:
Value* float_constant(IrBuilder& b, llvm::Constant* c);
Value* float_binary(IrBuilder& b, char op, Value* x, Value* y);  // + - * /
Value* float_compare(IrBuilder& b, llvm::CmpInst::Predicate predicate, Value* x, Value* y);
Value* to_narrower_float(IrBuilder& b, Value* x, llvm::Type* type);
Value* choose(IrBuilder& b, Value* condition, Value* x, Value* y);

Value* any_lane(IrBuilder& b, Value* condition);
Value* all_lanes(IrBuilder& b, Value* condition);

}  // namespace rw::emit
