// Numbers for tensors, given by one recorder that does not keep them alive. A tensor carries the mark of the
// recorder that saw it first, so that the usual lookup is one comparison; other recorders know it by its id.
#pragma once

#include <atomic>
#include <unordered_map>

#include "rewind/tensor/tensor_impl.h"
#include "rewind/tensor/thread_state.h"

namespace rw {

class TensorNumbers {
 public:
  // -1 for a tensor without one.
  int32_t of(const Tensor& tensor) const {
    const TensorImpl* impl = tensor.impl();
    if ((impl->tape_mark >> 32) == serial_) return int32_t(uint32_t(impl->tape_mark));
    const uint64_t id = impl->id.load(std::memory_order_relaxed);
    if (id == 0) return -1;
    const auto it = by_id_.find(id);
    return it == by_id_.end() ? -1 : it->second;
  }
  // The next number. `fresh`: nobody else can hold the tensor yet, unless it is an input that an op returned.
  int32_t add(const Tensor& tensor, bool fresh) {
    TensorImpl* impl = tensor.impl();
    const int32_t number = next_++;
    if (fresh && impl->tape_mark == 0 && impl->unique())
      impl->tape_mark = uint64_t(serial_) << 32 | uint32_t(number);
    else by_id_[tensor_id(tensor)] = number;
    return number;
  }
  int32_t count() const { return next_; }
  void clear() { *this = TensorNumbers(); }

 private:
  inline static std::atomic<uint32_t> next_serial_{1};
  uint32_t serial_ = next_serial_.fetch_add(1);
  int32_t next_ = 0;
  std::unordered_map<uint64_t, int32_t> by_id_;
};

}  // namespace rw
