#include "rewind/runtime/constant.h"

#include "rewind/runtime/touch.h"

namespace rw {

Value as_value(const HostTensor& t) {
  Value v;
  v.dtype = t.dtype;
  v.shape = t.shape;
  v.size = t.shape.num_elements();
  v.data = const_cast<void*>(t.data.get());
  v.storage = Storage::wrap(
      Buffer(cpu_device(), v.data, size_t(v.size) * size_of(v.dtype), [keep = t.data](void*) {}));
  return v;
}

HostTensor as_constant(const Value& v) {
  return {v.dtype, v.shape, std::shared_ptr<const void>(settled_data(v), [keep = v.storage](const void*) {})};
}

}  // namespace rw
