#include "rewind/runtime/touch.h"

#include "rewind/runtime/history.h"

namespace rw {

Touched::Touched(std::span<const Value* const> values) {
  data_.reserve(values.size());
  bool any = false;
  for (const Value* v : values) {
    data_.push_back(v->data);
    any |= v->movable();
  }
  if (!any) return;
  History& h = History::get();
  const std::lock_guard lock(h.mutex);
  try {
    for (size_t i = 0; i < values.size(); ++i) {
      const Value& v = *values[i];
      if (!v.movable()) continue;
      char* start = static_cast<char*>(v.storage->buffer.data());
      if (Recipe* r = v.storage->recipe) {
        RecipeOutput& o = r->outputs()[v.storage->recipe_output];
        h.make(o);
        h.pin(o);
        pinned_.push_back(&o);
        start = static_cast<char*>(o.data);
      }
      data_[i] = start + v.movable_offset();
    }
  } catch (...) {
    for (RecipeOutput* o : pinned_) h.unpin(*o);
    throw;
  }
}

Touched::~Touched() {
  if (pinned_.empty()) return;
  History& h = History::get();
  const std::lock_guard lock(h.mutex);
  let_go(h);
}

void Touched::let_go(History& history) {
  for (RecipeOutput* o : pinned_) history.unpin(*o);
  pinned_.clear();
}

void* settled_data(const Value& value) {
  if (!value.movable() && !(value.storage && value.storage->recipe)) return value.data;
  History& h = History::get();
  const std::lock_guard lock(h.mutex);
  h.settle(*value.storage);
  return value.movable() ? static_cast<char*>(value.storage->buffer.data()) + value.movable_offset()
                         : value.data;
}

Value settled(const Value& value) {
  Value copy = value;
  copy.data = settled_data(value);
  return copy;
}

}  // namespace rw
