// Kernels of one module, and the functions they share.
#pragma once

#include <llvm/IR/Module.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "rewind/compiler/llvm/emit/machine.h"
#include "rewind/compiler/llvm/emit/scope.h"
#include "rewind/compiler/loop/ir.h"

namespace rw::emit {

// What a kernel's function still needs before it becomes code.
struct KernelFunction {
  llvm::Function* function;
  std::vector<llvm::AllocaInst*> locals;  // that can become values
  bool scalar_loops;                      // has innermost loops without lanes, for LLVM's own loop passes
};

class ModuleEmitter {
 public:
  ModuleEmitter(llvm::Module& module, const Machine& machine) : module_(module), machine_(machine) {}

  // int64 symbol(ptr buffers, int64 begin, int64 end), as loop::Executable::run.
  KernelFunction add(const loop::Kernel& kernel, const std::string& symbol);

  // An elementwise op that is too long to be emitted at each use, on operands of a type.
  llvm::Function* op_function(std::string_view op, DType dtype, int lanes, llvm::ArrayRef<Value*> args,
                              llvm::Type* result);

  llvm::Module& module() { return module_; }
  const Machine& machine() const { return machine_; }

 private:
  void set_attributes(llvm::Function* function) const;

  llvm::Module& module_;
  const Machine& machine_;
  std::map<std::string, llvm::Function*, std::less<>> functions_;
};

}  // namespace rw::emit
