// LLVM's passes over a kernel's function.
#pragma once

#include <llvm/Target/TargetMachine.h>

#include "rewind/compiler/llvm/emit/module_emitter.h"

namespace rw::emit {

void optimize(const KernelFunction& kernel, llvm::TargetMachine& machine);

}  // namespace rw::emit
