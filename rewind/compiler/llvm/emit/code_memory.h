// The pages that code lives in: one piece of address space for a module, so that its parts reach each other.
#pragma once

#include <llvm/ExecutionEngine/RuntimeDyld.h>

namespace rw::emit {

class CodeMemory final : public llvm::RuntimeDyld::MemoryManager {
 public:
  CodeMemory() = default;
  ~CodeMemory() override;
  CodeMemory(const CodeMemory&) = delete;
  CodeMemory& operator=(const CodeMemory&) = delete;

  bool needsToReserveAllocationSpace() override { return true; }
  void reserveAllocationSpace(uintptr_t code_size, llvm::Align code_align, uintptr_t constants_size,
                              llvm::Align constants_align, uintptr_t data_size,
                              llvm::Align data_align) override;
  uint8_t* allocateCodeSection(uintptr_t size, unsigned align, unsigned id, llvm::StringRef name) override;
  uint8_t* allocateDataSection(uintptr_t size, unsigned align, unsigned id, llvm::StringRef name,
                               bool read_only) override;
  // Code becomes executable and, like constants, read-only.
  bool finalizeMemory(std::string* error) override;
  void registerEHFrames(uint8_t*, uint64_t, size_t) override {}
  void deregisterEHFrames() override {}

 private:
  struct Part {
    uint8_t *next = nullptr, *end = nullptr;
  };
  static uint8_t* take(Part& part, uintptr_t size, unsigned align);

  uint8_t* begin_ = nullptr;
  size_t size_ = 0, code_size_ = 0, constants_size_ = 0;
  Part code_, constants_, data_;
};

}  // namespace rw::emit
