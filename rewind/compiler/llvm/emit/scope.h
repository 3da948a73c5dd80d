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
Value* any_lane(IrBuilder& b, Value* condition);
Value* all_lanes(IrBuilder& b, Value* condition);

}  // namespace rw::emit
