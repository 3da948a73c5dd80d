// Kernels: functions on raw views. They know no Tensor and no Graph.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "rewind/device/device.h"
#include "rewind/op/op.h"

namespace rw {

// What the runtime does for a running kernel.
class KernelHost {
 public:
  virtual ~KernelHost() = default;
  // Memory for an output whose shape the op's shape rule left open.
  virtual View allocate_output(int i, Shape shape) = 0;
  // Memory until the kernel returns.
  virtual void* scratch(size_t bytes) = 0;
  // The value of the variable behind resource input i, for reading and writing in place. The runtime holds
  // the variable's lock while the kernel runs, and has split the value from snapshots that others still hold.
  virtual View variable(int i) = 0;
  // Rows [begin, end) of output 0 are final, a row being its last axis. A compiled program takes them further
  // while they are in the cache; afterwards the kernel must not read or write them.
  virtual void rows_done(int64_t begin, int64_t end) {
    (void)begin;
    (void)end;
  }
};

class KernelContext {
 public:
  KernelContext(const Op& op, const Attrs& attrs, std::span<const View> inputs, std::span<View> outputs,
                Device& device, KernelHost& host, const void* data)
      : op_(op),
        attrs_(attrs),
        inputs_(inputs),
        outputs_(outputs),
        device_(device),
        host_(host),
        data_(data) {}

  const Op& op() const { return op_; }
  const Attrs& attrs() const { return attrs_; }
  int num_inputs() const { return int(inputs_.size()); }
  int num_outputs() const { return int(outputs_.size()); }
  const View& in(int i) const { return inputs_[size_t(i)]; }
  const View& out(int i) const { return outputs_[size_t(i)]; }
  Device& device() const { return device_; }
  template <class T>
  T attr(std::string_view name) const {
    return attr_as<T>(op_, attrs_, name);
  }
  const View& allocate_output(int i, Shape shape) {
    return outputs_[size_t(i)] = host_.allocate_output(i, std::move(shape));
  }
  template <class T>
  T* scratch(size_t count) {
    return static_cast<T*>(host_.scratch(count * sizeof(T)));
  }
  View variable(int i) { return host_.variable(i); }
  // From any thread. Kernels whose entry says that they report rows do so for each row once.
  void rows_done(int64_t begin, int64_t end) { host_.rows_done(begin, end); }
  // What the kernel was registered with: one function serves many ops.
  template <class T>
  const T& data() const {
    return *static_cast<const T*>(data_);
  }

  [[noreturn]] void fail(const std::string& message) const;  // InvalidArgumentError
  [[noreturn]] void fail_dtype(DType dtype) const;           // UnimplementedError: no kernel for it
  [[noreturn]] void fail_out_of_range(const std::string& message) const;  // OutOfRangeError

 private:
  const Op& op_;
  const Attrs& attrs_;
  std::span<const View> inputs_;
  std::span<View> outputs_;
  Device& device_;
  KernelHost& host_;
  const void* data_;
};

using Kernel = void (*)(KernelContext&);

struct KernelEntry {
  Kernel run;
  const void* data;
  // Whether a call with these attributes and this type reports its rows (KernelContext::rows_done); null:
  // never.
  bool (*reports_rows)(const Op& op, const Attrs& attrs, DType dtype) = nullptr;
};

// Adds the kernel of an op on a kind of device; a second one replaces the first. `data` reaches the kernel as
// ctx.data<T>() and lives for ever. Thread-safe, lock-free for callers.
void register_kernel(std::string_view op, DeviceType device, Kernel kernel, const void* data = nullptr);
void register_kernel(std::string_view op, DeviceType device, const KernelEntry& entry);
// nullptr when there is none.
const KernelEntry* find_kernel(const Op& op, DeviceType device);

}  // namespace rw
