#include "rewind/compiler/llvm/emit/jit.h"

#include <llvm/Config/llvm-config.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>

#include <cmath>
#include <cstring>
#include <iterator>

#include "rewind/base/error.h"
#include "rewind/compiler/llvm/emit/code_memory.h"
#include "rewind/compiler/llvm/emit/module_emitter.h"
#include "rewind/compiler/llvm/emit/optimize.h"

namespace rw::emit {
namespace {

// What code may call: the routines LLVM puts in place of loops and of instructions that a machine lacks.
class Symbols final : public llvm::LegacyJITSymbolResolver {
 public:
  llvm::JITSymbol findSymbol(const std::string& name) override {
    struct Row {
      const char* name;
      void* address;
    };
    static const Row kRows[] = {
        {"memcpy", reinterpret_cast<void*>(&std::memcpy)},
        {"memmove", reinterpret_cast<void*>(&std::memmove)},
        {"memset", reinterpret_cast<void*>(&std::memset)},
        {"fma", reinterpret_cast<void*>(static_cast<double (*)(double, double, double)>(&::fma))},
        {"fmaf", reinterpret_cast<void*>(&::fmaf)},
        {"floor", reinterpret_cast<void*>(static_cast<double (*)(double)>(&::floor))},
        {"floorf", reinterpret_cast<void*>(&::floorf)},
        {"ceil", reinterpret_cast<void*>(static_cast<double (*)(double)>(&::ceil))},
        {"ceilf", reinterpret_cast<void*>(&::ceilf)},
        {"trunc", reinterpret_cast<void*>(static_cast<double (*)(double)>(&::trunc))},
        {"truncf", reinterpret_cast<void*>(&::truncf)},
        {"rint", reinterpret_cast<void*>(static_cast<double (*)(double)>(&::rint))},
        {"rintf", reinterpret_cast<void*>(&::rintf)},
        {"fmax", reinterpret_cast<void*>(static_cast<double (*)(double, double)>(&::fmax))},
        {"fmaxf", reinterpret_cast<void*>(&::fmaxf)},
        {"fmin", reinterpret_cast<void*>(static_cast<double (*)(double, double)>(&::fmin))},
        {"fminf", reinterpret_cast<void*>(&::fminf)},
    };
    for (const Row& row : kRows)
      if (name == row.name) return {reinterpret_cast<uintptr_t>(row.address), llvm::JITSymbolFlags::Exported};
    return nullptr;
  }
  llvm::JITSymbol findSymbolInLogicalDylib(const std::string&) override { return nullptr; }
};

// A loaded object.
struct Code {
  CodeMemory memory;
  Symbols symbols;
  llvm::RuntimeDyld linker{memory, symbols};
};

class NativeKernel final : public loop::Executable {
 public:
  using Function = int64_t (*)(void* const*, int64_t, int64_t);
  NativeKernel(std::shared_ptr<const Code> code, Function function)
      : code_(std::move(code)), function_(function) {}
  int64_t run(void* const* buffers, int64_t begin, int64_t end) const override {
    return function_(buffers, begin, end);
  }

 private:
  const std::shared_ptr<const Code> code_;
  const Function function_;
};

struct Build {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::TargetMachine> machine = make_target_machine(host_machine());
  llvm::Module module{"kernels", context};

  explicit Build(std::span<const loop::Kernel* const> kernels, bool optimized) {
    context.setDiscardValueNames(true);
    module.setTargetTriple(machine->getTargetTriple().str());
    module.setDataLayout(machine->createDataLayout());
    ModuleEmitter emitter(module, host_machine());
    for (size_t i = 0; i < kernels.size(); ++i) {
      const KernelFunction kernel = emitter.add(*kernels[i], "kernel" + std::to_string(i));
      if (optimized) optimize(kernel, *machine);
    }
#ifdef REWIND_VERIFY_LLVM
    std::string error;
    llvm::raw_string_ostream stream(error);
    if (llvm::verifyModule(module, &stream)) throw InternalError("[llvm] " + stream.str());
#endif
  }
};

}  // namespace

std::vector<std::shared_ptr<const loop::Executable>> make_native(
    std::span<const loop::Kernel* const> kernels) {
  auto code = std::make_shared<Code>();
  {
    Build build(kernels, true);
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream stream(bytes);
    llvm::legacy::PassManager passes;
    llvm::MCContext* unused = nullptr;
    if (build.machine->addPassesToEmitMC(passes, unused, stream, /*DisableVerify=*/true))
      throw InternalError("[llvm] this machine has no object emitter");
    passes.run(build.module);
    const llvm::SmallVectorMemoryBuffer buffer(std::move(bytes), "kernels", false);
    auto object = llvm::object::ObjectFile::createObjectFile(buffer.getMemBufferRef());
    if (!object) throw InternalError("[llvm] " + llvm::toString(object.takeError()));
    code->linker.loadObject(**object);
    code->linker.resolveRelocations();
    if (code->linker.hasError()) throw InternalError("[llvm] " + code->linker.getErrorString().str());
    code->memory.finalizeMemory(nullptr);
  }
  std::vector<std::shared_ptr<const loop::Executable>> result;
  for (size_t i = 0; i < kernels.size(); ++i) {
    void* address = code->linker.getSymbolLocalAddress("kernel" + std::to_string(i));
    RW_CHECK(address);
    result.push_back(std::make_shared<NativeKernel>(code, reinterpret_cast<NativeKernel::Function>(address)));
  }
  return result;
}

std::string module_text(std::span<const loop::Kernel* const> kernels, bool optimized) {
  Build build(kernels, optimized);
  std::string text;
  llvm::raw_string_ostream stream(text);
  build.module.print(stream, nullptr);
  return text;
}

std::string native_name() { return "llvm " LLVM_VERSION_STRING ", " + host_machine().cpu; }

}  // namespace rw::emit
