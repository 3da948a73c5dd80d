#include "rewind/compiler/llvm/emit/code_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

#include "rewind/base/error.h"

namespace rw::emit {
namespace {

size_t whole_pages(size_t bytes) {
  const size_t page = size_t(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

// Sections are aligned one by one; this much is lost between them at most.
constexpr size_t kSlack = 4096;

}  // namespace

CodeMemory::~CodeMemory() {
  if (begin_) munmap(begin_, size_);
}

void CodeMemory::reserveAllocationSpace(uintptr_t code_size, llvm::Align, uintptr_t constants_size,
                                        llvm::Align, uintptr_t data_size, llvm::Align) {
  RW_CHECK(!begin_);
  code_size_ = whole_pages(code_size + kSlack);
  constants_size_ = whole_pages(constants_size + kSlack);
  size_ = code_size_ + constants_size_ + whole_pages(data_size + kSlack);
  void* memory = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  begin_ = static_cast<uint8_t*>(memory);
  code_ = {begin_, begin_ + code_size_};
  constants_ = {code_.end, code_.end + constants_size_};
  data_ = {constants_.end, begin_ + size_};
}

uint8_t* CodeMemory::take(Part& part, uintptr_t size, unsigned align) {
  const uintptr_t mask = (align ? align : 16) - 1;
  uint8_t* at = part.next + (-reinterpret_cast<uintptr_t>(part.next) & mask);
  RW_CHECK(at + size <= part.end);
  part.next = at + size;
  return at;
}

uint8_t* CodeMemory::allocateCodeSection(uintptr_t size, unsigned align, unsigned, llvm::StringRef) {
  return take(code_, size, align);
}

uint8_t* CodeMemory::allocateDataSection(uintptr_t size, unsigned align, unsigned, llvm::StringRef,
                                         bool read_only) {
  return take(read_only ? constants_ : data_, size, align);
}

bool CodeMemory::finalizeMemory(std::string* error) {
  if (mprotect(begin_, code_size_, PROT_READ | PROT_EXEC) == 0 &&
      mprotect(begin_ + code_size_, constants_size_, PROT_READ) == 0) {
    __builtin___clear_cache(reinterpret_cast<char*>(begin_), reinterpret_cast<char*>(begin_ + code_size_));
    return false;
  }
  if (error) *error = "mprotect failed";
  return true;
}

}  // namespace rw::emit
