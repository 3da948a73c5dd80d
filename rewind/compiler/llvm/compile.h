// Kernels of the loop IR to code of this machine.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "rewind/compiler/loop/ir.h"

namespace rw::loop {

// Native code, by LLVM; in a build without it, interpret()'s executable, which is slow. The bits are the
// same. Equal kernels share one result: it is kept in a cache of bounded size. Thread-safe.
std::shared_ptr<const Executable> compile(const Kernel& kernel);
// The same for many at once, which costs less than one after the other.
std::vector<std::shared_ptr<const Executable>> compile_all(std::span<const Kernel* const> kernels);

// Whether compile() gives native code; where it does not, unfused ops are faster.
bool has_native_code();
// "llvm 19.1.7, znver4" or "interpreter".
std::string compiler_name();

}  // namespace rw::loop
