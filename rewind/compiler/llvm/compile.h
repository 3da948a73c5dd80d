// Kernels of the loop IR to code of this machine.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "rewind/compiler/loop/ir.h"

namespace rw::loop {

// Native code, by LLVM; in a build without it, the kernel in blocks by the eager loops. The bits are those of
// interpret() either way. Equal kernels share one result: it is kept in a cache of bounded size. Thread-safe.
std::shared_ptr<const Executable> compile(const Kernel& kernel);
// The same for many at once, which costs less than one after the other.
std::vector<std::shared_ptr<const Executable>> compile_all(std::span<const Kernel* const> kernels);

// "llvm 19.1.7, znver4" or "blocks".
std::string compiler_name();

}  // namespace rw::loop
