#include "rewind/compiler/llvm/emit/machine.h"

#include <llvm/ADT/StringMap.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>

#include <string_view>

#include "rewind/base/error.h"
#include "rewind/kernel/cpu/isa/isa.h"

namespace rw::emit {
namespace {

// As the command line would: LLVM asks of some options whether they were given at all.
void set_option(const char* name, const char* value) {
  const auto& options = llvm::cl::getRegisteredOptions();
  const auto it = options.find(name);
  RW_CHECK(it != options.end() && !it->second->addOccurrence(1, name, value));
}

// LLVM 19's loop vectoriser may take an index that wraps, like x[7 * i & 15], for one that does not, and
// forget the check that it made up. These options are off where it would assume such a thing.
void trust_no_assumptions() {
  set_option("enable-interleaved-mem-accesses", "false");
  set_option("vectorize-scev-check-threshold", "0");
}

Machine find_host() {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  trust_no_assumptions();
  Machine m;
  m.triple = llvm::sys::getProcessTriple();
  const llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  m.vector_bytes = 16;
#ifdef __x86_64__
  const std::string_view level = isa_name();
  if (level == "base") {
    m.cpu = "x86-64";
    m.f16c = false;
    return m;
  }
  m.vector_bytes = level == "v4" ? 64 : 32;
  m.f16c = features.lookup("f16c");
  if (level == "v3" && features.lookup("avx512f")) {
    m.cpu = "x86-64-v3";
    m.f16c = true;
    return m;
  }
#else
  m.f16c = false;
#endif
  m.cpu = llvm::sys::getHostCPUName().str();
  for (const auto& f : features)
    m.features += (m.features.empty() ? "" : ",") + std::string(f.second ? "+" : "-") + f.first().str();
  return m;
}

}  // namespace

const Machine& host_machine() {
  static const auto& machine = *new Machine(find_host());
  return machine;
}

std::unique_ptr<llvm::TargetMachine> make_target_machine(const Machine& machine) {
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(machine.triple, error);
  if (!target) throw InternalError("[llvm] " + error);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  options.NoTrappingFPMath = true;
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(machine.triple, machine.cpu, machine.features, options, llvm::Reloc::PIC_,
                                  llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default, /*JIT=*/true));
}

}  // namespace rw::emit
