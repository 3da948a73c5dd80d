// The CPU's caching allocator. Freed blocks are kept by size class: small ones per thread, large ones in a
// shared list, because a first touch of fresh memory costs ten times as much as a warm one.
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <vector>

#include "rewind/device/device.h"

namespace rw {

class CpuAllocator final : public Allocator {
 public:
  // Four classes per doubling: at most a quarter of a block is unused. From kFine on there are 64, so that
  // large blocks waste next to nothing. Classes up to kSmallMax live in a thread's own cache.
  static constexpr size_t kAlign = 64;
  static constexpr size_t kSmallMax = size_t{64} << 10;
  static constexpr size_t kFine = size_t{2} << 20;
  static constexpr int kClasses = 1800;
  static int class_of(size_t bytes);
  static size_t class_bytes(int size_class);

  // `thread_caches` is for the one allocator that lives as long as the process: threads keep its small
  // blocks.
  explicit CpuAllocator(bool thread_caches = false);
  ~CpuAllocator() override;
  void* allocate(size_t bytes) override;
  void deallocate(void* block, size_t bytes) noexcept override;
  MemoryStats stats() const override;
  void reset_peak() override;
  void trim() override;
  // 0: what the machine has. Throws ResourceExhaustedError when more is in use.
  void set_limit(int64_t bytes);
  int64_t limit_set() const { return limit_set_.load(std::memory_order_relaxed); }

  // For the per-thread caches.
  void* take_shared(int size_class);  // nullptr when there is none
  void give_shared(void* block, int size_class) noexcept;

 private:
  void count(int64_t bytes);
  void* cached(int size_class);  // nullptr when there is none
  void* fresh(int size_class);
  void free_slabs();

  std::atomic<int64_t> in_use_{0};
  std::atomic<int64_t> peak_{0};
  std::atomic<int64_t> reserved_{0};
  std::atomic<int64_t> allocations_{0};
  const int64_t machine_limit_;
  std::atomic<int64_t> limit_;
  std::atomic<int64_t> limit_set_{0};
  const bool thread_caches_;
  std::mutex mutex_;
  std::array<std::vector<void*>, kClasses> shared_;
  // Memory that is cut into small blocks of one class.
  struct Slab {
    char* memory;
    size_t bytes;
  };
  std::array<std::vector<Slab>, 48> slabs_;  // by class
};

}  // namespace rw
