// The host as a device: copies are memcpy, streams run at once.
#include <cstring>

#include "rewind/device/cpu/cpu_allocator.h"

namespace rw {
namespace {

class ImmediateStream final : public Stream {
 public:
  void synchronize() override {}
};

class CpuDevice final : public Device {
 public:
  CpuDevice() : Device(DeviceType::kCpu, 0) {}
  Allocator& allocator() override { return allocator_; }
  Stream& stream() override { return stream_; }
  void copy_to_host(void* host, const void* device, size_t bytes, Stream&) override {
    std::memcpy(host, device, bytes);
  }
  void copy_from_host(void* device, const void* host, size_t bytes, Stream&) override {
    std::memcpy(device, host, bytes);
  }

 private:
  CpuAllocator allocator_{/*thread_caches=*/true};
  ImmediateStream stream_;
};

}  // namespace

// Never destroyed: tensors in static variables may outlive everything else.
Device& cpu_device() {
  static auto* device = new CpuDevice;
  return *device;
}

}  // namespace rw
