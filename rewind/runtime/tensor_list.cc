#include "rewind/runtime/tensor_list.h"

#include <algorithm>

#include "rewind/base/dynamic_type.h"
#include "rewind/base/error.h"

namespace rw {
namespace {

constinit thread_local bool t_last_use = false;

Object* object_of(const Value& handle) {
  if (handle.dtype != DType::kVariant || handle.size != 1) return nullptr;
  return static_cast<Ref<Object>*>(handle.data)->get();
}

}  // namespace

ListItems::Block& ListItems::own_block(size_t i) {
  Ref<Block>& block = blocks_[i / kBlock];
  if (!block->unique()) {
    auto own = Ref<Block>::adopt(new Block);
    own->values = block->values;
    block = std::move(own);
  }
  return *block;
}

void ListItems::set(size_t i, Value value) { own_block(i).values[i % kBlock] = std::move(value); }

void ListItems::push_back(Value value) {
  resize(size_ + 1);
  set(size_ - 1, std::move(value));
}

void ListItems::resize(size_t count) {
  const size_t blocks = (count + kBlock - 1) / kBlock;
  blocks_.reserve(blocks);
  while (blocks_.size() < blocks) blocks_.push_back(Ref<Block>::adopt(new Block));
  blocks_.resize(blocks);
  const size_t end = std::min(size_, blocks * kBlock);
  for (size_t i = count; i < end; ++i) set(i, Value());
  size_ = count;
}

std::string ListObject::describe() const {
  return "<TensorList of " + std::to_string(items.size()) + " x " + std::string(name_of(element_dtype)) +
         element_shape.to_string() + ">";
}

Ref<ListObject> ListObject::copy() const {
  auto list = Ref<ListObject>::adopt(new ListObject(element_dtype, element_shape));
  list->max_num_elements = max_num_elements;
  list->items = items;
  return list;
}

const ListObject& list_of(const Value& handle, std::string_view op_tag) {
  Object* object = object_of(handle);
  if (const auto* list = dynamic_cast_to<const ListObject*>(object)) return *list;
  fail_invalid(op_tag, "the input must be a list of tensors: got " +
                           (object ? object->describe() : handle.view().describe()));
}

Value handle_of(Ref<ListObject> list) {
  Value handle = Value::allocate(cpu_device(), DType::kVariant, {});
  *static_cast<Ref<Object>*>(handle.data) = Ref<Object>::adopt(list.release());
  return handle;
}

LastUse::LastUse() : outer_(t_last_use) { t_last_use = true; }
LastUse::~LastUse() { t_last_use = outer_; }
bool LastUse::now() { return t_last_use; }

Ref<ListObject> changeable(const Value& handle, std::string_view op_tag) {
  const ListObject& list = list_of(handle, op_tag);
  if (LastUse::now() && handle.storage->unique() && list.unique())
    return Ref<ListObject>(const_cast<ListObject*>(&list));
  return list.copy();
}

}  // namespace rw
