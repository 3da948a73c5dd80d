// The memory behind tensors: counted, so that views and snapshots share it. Elements of dtype string,
// resource and variant are objects; the storage makes and destroys them. Under a memory budget a storage may
// have a recipe instead of memory: the elements can be dropped and made again (runtime/history.h).
#pragma once

#include "rewind/base/dtype.h"
#include "rewind/base/intrusive.h"
#include "rewind/base/pool.h"
#include "rewind/base/shape.h"
#include "rewind/device/buffer.h"
#include "rewind/op/view.h"

namespace rw {

struct Recipe;

struct Storage : RefCounted {
  DType object_type = DType::kInvalid;  // kString, kResource or kVariant when the elements are objects
  bool listed = false;                  // among the holdings (runtime/holdings.h)
  uint16_t recipe_output = 0;           // which of the recipe's outputs this is
  Buffer buffer;                        // with a recipe: no memory, only the device
  int64_t object_count = 0;
  Recipe* recipe = nullptr;  // counted; read and written under the history's lock

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
  // The first element, inside storage's buffer; or, when movable(), the offset of the first element in
  // memory that comes and goes: Touched (runtime/touch.h) says where it is.
  void* data = nullptr;
  int64_t size = 0;  // number of elements

  static constexpr uintptr_t kMovable = uintptr_t{1} << 63;
  bool movable() const { return (reinterpret_cast<uintptr_t>(data) & kMovable) != 0; }
  int64_t movable_offset() const { return int64_t(reinterpret_cast<uintptr_t>(data) & ~kMovable); }
  View view() const { return {data, &shape, dtype, size}; }
  Device* device() const { return storage ? storage->buffer.device() : nullptr; }
  // Fresh memory; host-only dtypes get constructed elements. Throws ResourceExhaustedError, and
  // InvalidArgumentError for negative or overflowing sizes.
  static Value allocate(Device& device, DType dtype, Shape shape);
};

}  // namespace rw
