// The float definitions of kernel/elementwise as emitters of instructions.
#pragma once

#include <string_view>

namespace llvm {
class Value;
}

namespace rw::emit {

struct FloatOp {
  const char* name;
  int arity;
  bool inlined;       // short: emitted where it is used, else once a module as a function
  bool returns_bool;  // else a value of the type of its operands
  // For float and double, on scalars or vectors as the current EmitScope says.
  llvm::Value* (*emit[2])(llvm::Value* const* args);
};

const FloatOp* find_float_op(std::string_view name);  // nullptr when there is none

}  // namespace rw::emit
