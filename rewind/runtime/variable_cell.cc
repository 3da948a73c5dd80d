#include "rewind/runtime/variable_cell.h"

#include <algorithm>
#include <cstring>

#include "rewind/base/error.h"

namespace rw {

void VariableCell::make_unique() {
  const Storage* s = value.storage.get();
  if (!s || (s->unique() && !s->buffer.foreign() && s->buffer.data() == value.data)) return;
  Value own = Value::allocate(*value.device(), value.dtype, value.shape);
  if (value.dtype == DType::kString)
    std::copy_n(static_cast<const std::string*>(value.data), value.size, static_cast<std::string*>(own.data));
  else if (is_host_only(value.dtype))
    std::copy_n(static_cast<const Ref<Object>*>(value.data), value.size, static_cast<Ref<Object>*>(own.data));
  else if (value.size > 0) std::memcpy(own.data, value.data, size_t(value.size) * size_of(value.dtype));
  value = std::move(own);
}

VariableCell& variable_of(const View& handle, std::string_view op_tag) {
  if (handle.dtype == DType::kResource && handle.size == 1) {
    if (auto* cell = dynamic_cast<VariableCell*>(handle.as<Ref<Object>>()->get())) return *cell;
  }
  fail_invalid(op_tag, "the resource must be a variable's handle: got " + handle.describe());
}

}  // namespace rw
