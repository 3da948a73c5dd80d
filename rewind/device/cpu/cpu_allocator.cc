#include "rewind/device/cpu/cpu_allocator.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>

#include "rewind/base/error.h"
#include "rewind/base/number_text.h"
#include "rewind/base/readable.h"
#include "rewind/device/memory_budget.h"

namespace rw {
namespace {

constexpr size_t kHuge = size_t{2} << 20;  // blocks from here on come from mmap, on huge pages where possible
constexpr size_t kSlab = size_t{256} << 10;  // the largest
constexpr size_t kSlabBlocks = 16;           // of the first slab of a class; each next one is twice as large
constexpr int kKeptPerClass = 64;            // blocks of a class that one thread keeps
// Doublings of 64 bytes from which classes are fine, and the first of those.
constexpr int kFineTop = std::bit_width(CpuAllocator::kFine / CpuAllocator::kAlign) - 1;
constexpr int kFineClass = 4 + (kFineTop - 2) * 4;

constexpr int class_number(size_t bytes) {
  const size_t units = (bytes + CpuAllocator::kAlign - 1) / CpuAllocator::kAlign;  // of 64 bytes
  if (units <= 4) return units == 0 ? 0 : int(units) - 1;
  const int top = std::bit_width(units - 1) - 1;  // units in (2^top, 2^(top+1)]
  if (top >= kFineTop) {
    const size_t part = size_t{1} << (top - 6);
    const auto step = int((units - 1 - (size_t{1} << top)) / part);
    return kFineClass + (top - kFineTop) * 64 + step;
  }
  const size_t quarter = size_t{1} << (top - 2);
  const auto step = int((units - 1 - (size_t{1} << top)) / quarter);
  return 4 + (top - 2) * 4 + step;
}
constexpr int kSmallClasses = class_number(CpuAllocator::kSmallMax) + 1;

// What the process may use: physical memory, or the control group's limit where that is lower.
int64_t machine_memory() {
  int64_t limit = int64_t(sysconf(_SC_PHYS_PAGES)) * int64_t(sysconf(_SC_PAGESIZE));
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    int64_t value = 0;
    std::ifstream file(path);
    std::string line;
    if (std::getline(file, line) && parse_number(line, &value) && value > 0 && value < limit) limit = value;
  }
  return limit;
}

// Large blocks start at a huge page and one of 16 colours behind it: caches and prefetchers of processors
// know an address by few of its bits, and arrays as far apart as a power of two would get into each other's
// way.
constexpr size_t kColour = 4096;
constexpr size_t kColours = 16;

void* map_block(size_t bytes) {
  static std::atomic<size_t> next{0};
  const size_t colour = next.fetch_add(1, std::memory_order_relaxed) % kColours * kColour;
  const size_t length = bytes + colour;
  void* const mapped =
      mmap(nullptr, length + kHuge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  char* const first = static_cast<char*>(mapped);
  const size_t before = -reinterpret_cast<uintptr_t>(first) % kHuge;
  char* const start = first + before;
  if (before > 0) munmap(first, before);
  munmap(start + length, kHuge - before);
  madvise(start, length, MADV_HUGEPAGE);
  return start + colour;
}

void unmap_block(void* block, size_t bytes) {
  const size_t colour = reinterpret_cast<uintptr_t>(block) % kHuge;
  munmap(static_cast<char*>(block) - colour, bytes + colour);
}

std::string readable(int64_t bytes) { return readable_bytes(bytes, 1); }

// Blocks that one thread freed and will take again without a lock. `gone` marks a thread that is ending:
// objects destroyed after its cache go to the shared lists.
struct ThreadCache {
  CpuAllocator* owner = nullptr;
  struct List {
    int count = 0;
    void* blocks[kKeptPerClass];
  };
  List lists[48];
  ~ThreadCache();
};
thread_local bool t_gone = false;
thread_local ThreadCache t_cache;

ThreadCache::~ThreadCache() {
  t_gone = true;
  if (!owner) return;
  for (int c = 0; c < kSmallClasses; ++c)
    while (lists[c].count > 0) owner->give_shared(lists[c].blocks[--lists[c].count], c);
}

}  // namespace

int CpuAllocator::class_of(size_t bytes) { return class_number(bytes); }

size_t CpuAllocator::class_bytes(int size_class) {
  if (size_class < 4) return size_t(size_class + 1) * kAlign;
  if (size_class >= kFineClass) {
    const int top = (size_class - kFineClass) / 64 + kFineTop;
    const int step = (size_class - kFineClass) % 64;
    return ((size_t{1} << top) + (size_t{1} << (top - 6)) * size_t(step + 1)) * kAlign;
  }
  const int top = (size_class - 4) / 4 + 2;
  const int step = (size_class - 4) % 4;
  return ((size_t{1} << top) + (size_t{1} << (top - 2)) * size_t(step + 1)) * kAlign;
}

CpuAllocator::CpuAllocator(bool thread_caches)
    : machine_limit_(machine_memory()), limit_(machine_limit_), thread_caches_(thread_caches) {}

void CpuAllocator::set_limit(int64_t bytes) {
  const int64_t now = in_use_.load(std::memory_order_relaxed);
  if (bytes > 0 && now > bytes) {
    reclaim_memory();
    while (in_use_.load(std::memory_order_relaxed) > bytes &&
           drop_values(in_use_.load(std::memory_order_relaxed) - bytes)) {}
    if (in_use_.load(std::memory_order_relaxed) > bytes)
      fail_exhausted("CPU:0", "a budget of " + readable(bytes) + " cannot be kept: tensors hold " +
                                  readable(now) + " already" + memory_words() +
                                  "; free some, or ask for at least as much");
  }
  limit_set_ = bytes;
  limit_ = bytes > 0 ? std::min(bytes, machine_limit_) : machine_limit_;
  if (reserved_.load(std::memory_order_relaxed) > limit_) trim();
}

CpuAllocator::~CpuAllocator() {
  trim();
  for (const auto& slabs : slabs_)
    for (const Slab& slab : slabs) std::free(slab.memory);
}

void CpuAllocator::count(int64_t bytes) {
  const int64_t now = in_use_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  allocations_.fetch_add(1, std::memory_order_relaxed);
  int64_t peak = peak_.load(std::memory_order_relaxed);
  while (now > peak && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {}
}

void* CpuAllocator::allocate(size_t bytes) {
  if (bytes > size_t{1} << 48) {
    fail_exhausted("CPU:0", "a buffer of " + readable(int64_t(bytes >> 1)) +
                                " x 2 was asked for; the limit is " + readable(limit_));
  }
  const int size_class = class_of(bytes);
  void* block = cached(size_class);
  if (!block) block = fresh(size_class);
  count(int64_t(class_bytes(size_class)));
  return block;
}

void CpuAllocator::deallocate(void* block, size_t bytes) noexcept {
  const int size_class = class_of(bytes);
  in_use_.fetch_sub(int64_t(class_bytes(size_class)), std::memory_order_relaxed);
  if (thread_caches_ && size_class < kSmallClasses && !t_gone) {
    ThreadCache::List& list = t_cache.lists[size_class];
    if (list.count < kKeptPerClass) {
      t_cache.owner = this;
      list.blocks[list.count++] = block;
      return;
    }
  }
  give_shared(block, size_class);
}

void* CpuAllocator::cached(int size_class) {
  if (thread_caches_ && size_class < kSmallClasses && !t_gone) {
    ThreadCache::List& list = t_cache.lists[size_class];
    if (list.count > 0) return list.blocks[--list.count];
  }
  return take_shared(size_class);
}

void* CpuAllocator::take_shared(int size_class) {
  const std::lock_guard lock(mutex_);
  auto& list = shared_[size_t(size_class)];
  if (list.empty()) return nullptr;
  void* block = list.back();
  list.pop_back();
  return block;
}

void CpuAllocator::give_shared(void* block, int size_class) noexcept {
  const std::lock_guard lock(mutex_);
  shared_[size_t(size_class)].push_back(block);
}

void* CpuAllocator::fresh(int size_class) {
  const size_t bytes = class_bytes(size_class);
  const bool slab = bytes <= kSlab / kSlabBlocks;
  size_t wanted = bytes;
  if (slab) {
    const std::lock_guard lock(mutex_);
    wanted = std::min(kSlab, bytes * kSlabBlocks << std::min<size_t>(slabs_[size_t(size_class)].size(), 16));
  }
  auto room = [&] { return reserved_.load(std::memory_order_relaxed) + int64_t(wanted) <= limit_; };
  if (!room()) trim();
  if (!room()) {
    reclaim_memory();
    trim();
  }
  while (thread_caches_ && !room() && drop_values(int64_t(wanted))) {
    if (void* block = cached(size_class)) return block;
    trim();
  }
  void* memory = nullptr;
  if (room()) { memory = wanted >= kHuge ? map_block(wanted) : std::aligned_alloc(kAlign, wanted); }
  if (!memory) {
    const MemoryStats s = stats();
    fail_exhausted("CPU:0", "out of memory: " + readable(int64_t(bytes)) + " asked for, " +
                                readable(s.in_use) + " held by tensors, " + readable(s.reserved - s.in_use) +
                                " cached, the limit is " + readable(limit_) + memory_words() +
                                "; free tensors, use smaller batches, or recompute");
  }
  reserved_.fetch_add(int64_t(wanted), std::memory_order_relaxed);
  if (slab) {
    const std::lock_guard lock(mutex_);
    slabs_[size_t(size_class)].push_back({static_cast<char*>(memory), wanted});
    auto& list = shared_[size_t(size_class)];
    for (size_t at = wanted / bytes * bytes; at > bytes; at -= bytes)
      list.push_back(static_cast<char*>(memory) + at - bytes);
  }
  return memory;
}

MemoryStats CpuAllocator::stats() const {
  MemoryStats s;
  s.in_use = in_use_.load(std::memory_order_relaxed);
  s.peak = peak_.load(std::memory_order_relaxed);
  s.reserved = reserved_.load(std::memory_order_relaxed);
  s.limit = limit_;
  s.allocations = allocations_.load(std::memory_order_relaxed);
  return s;
}

void CpuAllocator::reset_peak() {
  peak_.store(in_use_.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

void CpuAllocator::trim() {
  // What this thread keeps; other threads' blocks stay theirs.
  if (thread_caches_ && !t_gone && t_cache.owner == this)
    for (int c = 0; c < kSmallClasses; ++c)
      while (t_cache.lists[c].count > 0) give_shared(t_cache.lists[c].blocks[--t_cache.lists[c].count], c);
  const std::lock_guard lock(mutex_);
  for (int c = 0; c < kClasses; ++c) {
    const size_t bytes = class_bytes(c);
    if (bytes <= kSlab / kSlabBlocks) continue;  // parts of slabs
    for (void* block : shared_[size_t(c)]) {
      if (bytes >= kHuge) unmap_block(block, bytes);
      else std::free(block);
      reserved_.fetch_sub(int64_t(bytes), std::memory_order_relaxed);
    }
    shared_[size_t(c)].clear();
  }
  free_slabs();
}

// Gives back the slabs of which every block is in the shared lists.
void CpuAllocator::free_slabs() {
  for (size_t c = 0; c < slabs_.size(); ++c) {
    std::vector<Slab>& slabs = slabs_[c];
    std::vector<void*>& blocks = shared_[c];
    if (slabs.empty() || blocks.empty()) continue;
    const size_t bytes = class_bytes(int(c));
    const std::less<const void*> before;
    std::sort(slabs.begin(), slabs.end(),
              [&](const Slab& a, const Slab& b) { return before(a.memory, b.memory); });
    const auto slab_of = [&](const void* block) {
      const auto next = std::upper_bound(slabs.begin(), slabs.end(), block,
                                         [&](const void* p, const Slab& s) { return before(p, s.memory); });
      return size_t(next - slabs.begin()) - 1;
    };
    std::vector<size_t> free_blocks(slabs.size(), 0);
    for (const void* block : blocks) ++free_blocks[slab_of(block)];
    const auto idle = [&](size_t i) { return free_blocks[i] == slabs[i].bytes / bytes; };
    std::erase_if(blocks, [&](const void* block) { return idle(slab_of(block)); });
    size_t kept = 0;
    for (size_t i = 0; i < slabs.size(); ++i) {
      if (idle(i)) {
        reserved_.fetch_sub(int64_t(slabs[i].bytes), std::memory_order_relaxed);
        std::free(slabs[i].memory);
      } else {
        slabs[kept++] = slabs[i];
      }
    }
    slabs.resize(kept);
  }
}

}  // namespace rw
