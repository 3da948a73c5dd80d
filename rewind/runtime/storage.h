// The memory behind tensors: counted, so that views and snapshots share it. Elements of dtype string,
// resource and variant are objects; the storage makes and destroys them.
#pragma once

#include "rewind/base/dtype.h"
#include "rewind/base/intrusive.h"
#include "rewind/base/pool.h"
#include "rewind/base/shape.h"
#include "rewind/device/buffer.h"
#include "rewind/op/view.h"

namespace rw {

struct Storage : RefCounted {
  Buffer buffer;
  DType object_type = DType::kInvalid;  // kString, kResource or kVariant when the elements are objects
  int64_t object_count = 0;

  static Ref<Storage> allocate(Device& device, DType dtype, int64_t elements);
  static Ref<Storage> wrap(Buffer buffer);
  ~Storage();

  static void* operator new(size_t) { return Pool<Storage>::take(); }
  static void operator delete(void* block) { Pool<Storage>::give(block); }
  friend void destroy(Storage* storage) { delete storage; }
};

// A value as the runtime passes it around: type, sizes, and memory that it shares.
struct Value {
  DType dtype = DType::kInvalid;
  Shape shape;
  Ref<Storage> storage;
  void* data = nullptr;  // the first element; inside storage's buffer
  int64_t size = 0;      // number of elements

  View view() const { return {data, &shape, dtype, size}; }
  Device* device() const { return storage ? storage->buffer.device() : nullptr; }
  // Fresh memory; host-only dtypes get constructed elements. Throws ResourceExhaustedError, and
  // InvalidArgumentError for negative or overflowing sizes.
  static Value allocate(Device& device, DType dtype, Shape shape);
};

}  // namespace rw
