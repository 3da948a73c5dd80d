#include "rewind/runtime/variable_cell.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include "rewind/base/dynamic_type.h"
#include "rewind/base/error.h"
#include "rewind/device/memory_budget.h"

namespace rw {
namespace {

struct AllCells {
  std::mutex mutex;
  std::unordered_set<VariableCell*> cells;
  static AllCells& get() {
    static auto* all = new AllCells;  // outlives every variable
    return *all;
  }
};

}  // namespace

VariableCell::VariableCell(std::string name, DType dtype, Shape shape)
    : name(std::move(name)), dtype(dtype), shape(std::move(shape)) {
  AllCells& all = AllCells::get();
  const std::lock_guard lock(all.mutex);
  all.cells.insert(this);
}

VariableCell::~VariableCell() {
  AllCells& all = AllCells::get();
  const std::lock_guard lock(all.mutex);
  all.cells.erase(this);
}

int64_t variable_bytes() {
  AllCells& all = AllCells::get();
  const std::lock_guard lock(all.mutex);
  int64_t bytes = 0;
  for (VariableCell* cell : all.cells) {
    const std::unique_lock value(cell->mutex, std::try_to_lock);
    if (!value || !cell->value.storage || cell->value.storage->buffer.foreign()) continue;
    bytes += block_bytes(*cell->value.device(), int64_t(cell->value.storage->buffer.bytes()));
  }
  return bytes;
}

std::vector<VariableHolding> variable_holdings() {
  AllCells& all = AllCells::get();
  const std::lock_guard lock(all.mutex);
  std::vector<VariableHolding> list;
  for (VariableCell* cell : all.cells) {
    const std::unique_lock value(cell->mutex, std::try_to_lock);
    if (value && cell->value.storage) list.push_back({cell->value.storage.get(), cell->name});
  }
  return list;
}

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
    if (auto* cell = dynamic_cast_to<VariableCell*>(handle.as<Ref<Object>>()->get())) return *cell;
  }
  fail_invalid(op_tag, "the resource must be a variable's handle: got " + handle.describe());
}

}  // namespace rw
