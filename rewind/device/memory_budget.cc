#include "rewind/device/memory_budget.h"

#include <atomic>

#include "rewind/base/error.h"
#include "rewind/device/cpu/cpu_allocator.h"

namespace rw {
namespace {

std::atomic<int64_t> g_cpu_limit{0};

CpuAllocator* cpu_allocator(const Device& device) {
  // Only asks; allocator() is not const because it hands out memory.
  return dynamic_cast<CpuAllocator*>(&const_cast<Device&>(device).allocator());
}

}  // namespace

void set_memory_limit(Device& device, int64_t bytes) {
  CpuAllocator* allocator = cpu_allocator(device);
  if (!allocator) fail_unimplemented("set_budget", "there is no budget for " + device.name());
  if (bytes < 0)
    fail_invalid("set_budget", "a budget must be positive, or 0 for none: got " + std::to_string(bytes));
  allocator->set_limit(bytes);
  g_cpu_limit = bytes;
}

int64_t memory_limit(const Device& device) {
  const CpuAllocator* allocator = cpu_allocator(device);
  return allocator ? allocator->limit_set() : 0;
}

int64_t block_bytes(const Device& device, int64_t bytes) {
  if (!cpu_allocator(device)) return bytes;
  return bytes <= 0 ? 0 : int64_t(CpuAllocator::class_bytes(CpuAllocator::class_of(size_t(bytes))));
}

int64_t cpu_memory_limit() { return g_cpu_limit.load(std::memory_order_relaxed); }

}  // namespace rw
