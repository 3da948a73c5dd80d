// A device without memory: addresses are made up, sizes are counted.
#include <atomic>

#include "rewind/device/device.h"

namespace rw {
namespace {

class CountingAllocator final : public Allocator {
 public:
  void* allocate(size_t bytes) override {
    const int64_t now = in_use_ += int64_t(bytes);
    int64_t peak = peak_;
    while (now > peak && !peak_.compare_exchange_weak(peak, now)) {}
    ++allocations_;
    return reinterpret_cast<void*>(next_.fetch_add(bytes + 64));  // NOLINT: never dereferenced
  }
  void deallocate(void*, size_t bytes) noexcept override { in_use_ -= int64_t(bytes); }
  MemoryStats stats() const override { return {in_use_, peak_, in_use_, int64_t{1} << 60, allocations_}; }
  void reset_peak() override { peak_ = in_use_.load(); }
  void trim() override {}

 private:
  std::atomic<uintptr_t> next_{64};
  std::atomic<int64_t> in_use_{0}, peak_{0}, allocations_{0};
};

class NullStream final : public Stream {
 public:
  void synchronize() override {}
};

class NullDevice final : public Device {
 public:
  NullDevice() : Device(DeviceType::kNull, 0) {}
  Allocator& allocator() override { return allocator_; }
  Stream& stream() override { return stream_; }
  void copy_to_host(void*, const void*, size_t, Stream&) override {}
  void copy_from_host(void*, const void*, size_t, Stream&) override {}

 private:
  CountingAllocator allocator_;
  NullStream stream_;
};

}  // namespace

Device& null_device() {
  static auto* device = new NullDevice;
  return *device;
}

}  // namespace rw
