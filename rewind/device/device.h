// A device: where buffers live and kernels run. The CPU is always there; other kinds register themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rw {

enum class DeviceType : uint8_t { kCpu = 0, kNull = 1, kCuda = 2 };
inline constexpr int kDeviceTypes = 3;

struct MemoryStats {
  int64_t in_use = 0;    // bytes handed out, rounded up to the allocator's sizes
  int64_t peak = 0;      // largest in_use since the last reset
  int64_t reserved = 0;  // in_use plus what the allocator keeps for reuse
  int64_t limit = 0;     // more than this is refused
  int64_t allocations = 0;
};

// Memory of one device. Thread-safe. Blocks are aligned to 64 bytes.
class Allocator {
 public:
  virtual ~Allocator() = default;
  // Throws ResourceExhaustedError when the device cannot give that much.
  virtual void* allocate(size_t bytes) = 0;
  // `bytes` as given to allocate.
  virtual void deallocate(void* block, size_t bytes) noexcept = 0;
  virtual MemoryStats stats() const = 0;
  virtual void reset_peak() = 0;
  // Gives cached blocks back to the system.
  virtual void trim() = 0;
};

// Work queued on a stream runs in order. The CPU runs it at once.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual void synchronize() = 0;
};

class Device {
 public:
  Device(DeviceType type, int index);
  virtual ~Device() = default;

  DeviceType type() const { return type_; }
  int index() const { return index_; }
  const std::string& name() const { return name_; }  // "CPU:0"
  const std::string& full_name() const {
    return full_name_;
  }  // "/job:localhost/replica:0/task:0/device:CPU:0"
  bool is_host() const { return type_ == DeviceType::kCpu; }

  virtual Allocator& allocator() = 0;
  virtual Stream& stream() = 0;
  // Copies between this device and the host, in the order of `stream`; complete after stream.synchronize().
  virtual void copy_to_host(void* host, const void* device, size_t bytes, Stream& stream) = 0;
  virtual void copy_from_host(void* device, const void* host, size_t bytes, Stream& stream) = 0;

 private:
  DeviceType type_;
  int index_;
  std::string name_;
  std::string full_name_;
};

Device& cpu_device();
// A device with an allocator that only counts: tests of planners and executors run on it.
Device& null_device();

std::vector<Device*> list_devices();
// Accepts "CPU:0", "/CPU:0", "/device:CPU:0", "cpu" and full names; throws NotFoundError otherwise.
Device& find_device(std::string_view name);

}  // namespace rw
