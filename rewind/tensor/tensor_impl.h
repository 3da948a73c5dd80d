// What a Tensor points to. For the library's own files.
#pragma once

#include <atomic>

#include "rewind/runtime/storage.h"
#include "rewind/tensor/tensor.h"

namespace rw {

enum class TensorKind : uint8_t {
  kEager,    // data in storage
  kSymbol,   // a value of a graph being traced
  kBatched,  // `inner` has one more axis in front: the batch of vectorized_map level `level`
};

// Of traced tensors; in trace.cc.
void destroy_symbol(TensorImpl* impl);
const void* known_data(const TensorImpl& impl);  // nullptr while the value is not known
[[noreturn]] void fail_symbol_value(const TensorImpl& impl, const char* cure);

struct TensorImpl : RefCounted, Value {
  TensorKind kind = TensorKind::kEager;
  uint8_t level = 0;
  // Where the tape that made this tensor keeps it: serial of the tape << 32 | value number; 0 for none.
  // Written before the tensor is shared. Any other tape that follows the tensor keeps it in a map by `id`,
  // which is 0 while there is none, so that the rest need not look.
  uint64_t tape_mark = 0;
  std::atomic<uint64_t> id{0};
  Tensor inner;

  TensorImpl() = default;
  explicit TensorImpl(Value&& value) : Value(std::move(value)) {}
  static void* operator new(size_t) { return Pool<TensorImpl>::take(); }
  static void operator delete(void* block) { Pool<TensorImpl>::give(block); }
  friend void destroy(TensorImpl* impl) {
    if (impl->kind == TensorKind::kSymbol) destroy_symbol(impl);
    else delete impl;
  }
};

inline Tensor make_tensor(Value&& value) {
  return Tensor(Ref<TensorImpl>::adopt(new TensorImpl(std::move(value))));
}

}  // namespace rw
