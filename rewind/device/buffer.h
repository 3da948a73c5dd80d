// A block of a device's memory with one owner; or memory of somebody else's, with a function that gives it
// back.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "rewind/device/device.h"

namespace rw {

class Buffer {
 public:
  Buffer() = default;
  Buffer(Device& device, size_t bytes)
      : device_(&device), data_(device.allocator().allocate(bytes)), bytes_(bytes) {}
  // Wraps foreign memory; `deleter` runs once, when the buffer dies.
  Buffer(Device& device, void* data, size_t bytes, std::function<void(void*)> deleter)
      : device_(&device),
        data_(data),
        bytes_(bytes),
        deleter_(std::make_unique<std::function<void(void*)>>(std::move(deleter))) {}
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Buffer() {
    if (deleter_) (*deleter_)(data_);
    else if (data_) device_->allocator().deallocate(data_, bytes_);
  }

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  Device* device() const { return device_; }
  bool foreign() const { return deleter_ != nullptr; }

  // Hands the block over to somebody who will give it back to the allocator; the device stays.
  void* release() {
    bytes_ = 0;
    return std::exchange(data_, nullptr);
  }
  // Takes a block over that the device's allocator gave for so many bytes.
  static Buffer adopt(Device& device, void* data, size_t bytes) {
    Buffer b;
    b.device_ = &device;
    b.data_ = data;
    b.bytes_ = bytes;
    return b;
  }

 private:
  void swap(Buffer& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(deleter_, other.deleter_);
  }

  Device* device_ = nullptr;
  void* data_ = nullptr;
  size_t bytes_ = 0;
  std::unique_ptr<std::function<void(void*)>> deleter_;
};

}  // namespace rw
