#include "rewind/runtime/storage.h"

#include <memory>
#include <string>

#include "rewind/base/error.h"
#include "rewind/op/object.h"
#include "rewind/runtime/history.h"
#include "rewind/runtime/holdings.h"

namespace rw {

Ref<Storage> Storage::allocate(Device& device, DType dtype, int64_t elements) {
  auto storage = Ref<Storage>::adopt(new Storage);
  size_t bytes = 0;
  if (__builtin_mul_overflow(size_t(elements), size_of(dtype), &bytes))
    fail_exhausted("tensor", std::to_string(elements) + " elements of " + std::string(name_of(dtype)) +
                                 " are more than an address space holds");
  storage->buffer = Buffer(device, bytes);
  if (is_host_only(dtype)) {
    if (dtype == DType::kString)
      std::uninitialized_value_construct_n(static_cast<std::string*>(storage->buffer.data()), elements);
    else std::uninitialized_value_construct_n(static_cast<Ref<Object>*>(storage->buffer.data()), elements);
    storage->object_type = dtype;
    storage->object_count = elements;
  }
  return storage;
}

Ref<Storage> Storage::wrap(Buffer buffer) {
  auto storage = Ref<Storage>::adopt(new Storage);
  storage->buffer = std::move(buffer);
  return storage;
}

Storage::~Storage() {
  if (recipe) [[unlikely]]
    leave_history(*this);
  else unlist_holding(*this);
  if (object_type == DType::kString) std::destroy_n(static_cast<std::string*>(buffer.data()), object_count);
  else if (object_type != DType::kInvalid)
    std::destroy_n(static_cast<Ref<Object>*>(buffer.data()), object_count);
}

Value Value::allocate(Device& device, DType dtype, Shape shape) {
  Value value;
  for (const int64_t d : shape)
    if (d < 0) fail_invalid("tensor", "sizes must not be negative: got shape " + shape.to_string());
  if (!shape.checked_num_elements(&value.size))
    fail_invalid("tensor", "the number of elements leaves int64: got shape " + shape.to_string());
  value.dtype = dtype;
  value.shape = std::move(shape);
  value.storage = Storage::allocate(device, dtype, value.size);
  value.data = value.storage->buffer.data();
  if (value.storage->buffer.bytes() > kListedFrom)
    list_holding({.storage = value.storage.get(), .op = nullptr, .dtype = dtype, .shape = value.shape});
  return value;
}

}  // namespace rw
