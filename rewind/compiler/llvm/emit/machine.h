// What code is made for.
#pragma once

#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>

namespace rw::emit {

struct Machine {
  std::string triple, cpu, features;
  int vector_bytes;  // of the widest registers
  bool f16c;         // converts float16 by itself
};

// This machine within the instruction set that the eager kernels chose (REWIND_ISA).
const Machine& host_machine();
// One for each compilation: it is not shared between threads.
std::unique_ptr<llvm::TargetMachine> make_target_machine(const Machine& machine);

}  // namespace rw::emit
