// The way from kernels to code in memory.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "rewind/compiler/loop/ir.h"

namespace rw::emit {

// One module of all; the code lives as long as one of its kernels.
std::vector<std::shared_ptr<const loop::Executable>> make_native(
    std::span<const loop::Kernel* const> kernels);
// The module of these kernels as text, before and after LLVM's passes: for dumps.
std::string module_text(std::span<const loop::Kernel* const> kernels, bool optimized);
std::string native_name();

}  // namespace rw::emit
