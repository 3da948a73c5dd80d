#include "rewind/runtime/list_elements.h"

#include <algorithm>
#include <cstring>

#include "rewind/base/dynamic_type.h"
#include "rewind/base/error.h"
#include "rewind/op/table.h"
#include "rewind/runtime/eager.h"
#include "rewind/runtime/optional_ops.h"

namespace rw {
namespace {

using Inputs = std::span<const Value* const>;
constexpr int64_t kMostElements = INT32_MAX;  // TensorListLength is an int32
constexpr int64_t kLongList = 1 << 16;

void copy_elements(const Value& from, char* to) {
  if (from.size == 0) return;
  if (from.dtype == DType::kString)
    std::copy_n(static_cast<const std::string*>(from.data), from.size, reinterpret_cast<std::string*>(to));
  else if (is_host_only(from.dtype))
    std::copy_n(static_cast<const Ref<Object>*>(from.data), from.size, reinterpret_cast<Ref<Object>*>(to));
  else std::memcpy(to, from.data, size_t(from.size) * size_of(from.dtype));
}

void clear_elements(DType dtype, char* to, int64_t count) {
  if (!is_host_only(dtype) && count > 0) std::memset(to, 0, size_t(count) * size_of(dtype));
}

Value run_one(const Op& op, std::initializer_list<const Value*> inputs) {
  return std::move(run_eager(op, {}, {inputs.begin(), inputs.size()})[0]);
}

Ref<ListObject> sum_of(const Op& op, const ListObject& a, const ListObject& b) {
  if (a.element_dtype != b.element_dtype)
    fail_invalid(op.tag, "lists must have one element type: got " + std::string(name_of(a.element_dtype)) +
                             " and " + std::string(name_of(b.element_dtype)));
  if (a.items.size() != b.items.size())
    fail_invalid(op.tag, "lists must have one length: got " + std::to_string(a.items.size()) + " and " +
                             std::to_string(b.items.size()));
  auto sum = Ref<ListObject>::adopt(
      new ListObject(a.element_dtype, merged_shape(op, a.element_shape, b.element_shape)));
  sum->max_num_elements = a.max_num_elements;
  for (size_t i = 0; i < a.items.size(); ++i) {
    if (!is_set(a.items[i])) sum->items.push_back(b.items[i]);
    else if (!is_set(b.items[i])) sum->items.push_back(a.items[i]);
    else sum->items.push_back(run_one(find_op("AddN"), {&a.items[i], &b.items[i]}));
  }
  return sum;
}

Ref<OptionalObject> sum_of(const Op& op, const OptionalObject& a, const OptionalObject& b) {
  if (a.components.size() != b.components.size())
    fail_invalid(op.tag,
                 "optionals must hold equally many tensors: got " + a.describe() + " and " + b.describe());
  auto sum = Ref<OptionalObject>::adopt(new OptionalObject);
  for (size_t i = 0; i < a.components.size(); ++i)
    sum->components.push_back(run_one(find_op("AddN"), {&a.components[i], &b.components[i]}));
  return sum;
}

Ref<Object>& object_at(const Value& handles, int64_t i) { return static_cast<Ref<Object>*>(handles.data)[i]; }
const OptionalObject* optional_at(const Value& handles, int64_t i) {
  return dynamic_cast_to<const OptionalObject*>(object_at(handles, i).get());
}
const ListObject& list_at(const Op& op, const Value& handles, int64_t i) {
  Value one = handles;
  one.data = &object_at(handles, i);
  one.size = 1;
  return list_of(one, op.tag);
}

Value handles_like(const Value& like) { return Value::allocate(cpu_device(), DType::kVariant, like.shape); }
template <class T>
void set_handle(const Value& handles, int64_t i, Ref<T> object) {
  object_at(handles, i) = Ref<Object>::adopt(object.release());
}

// The sum of element i of all inputs, if they are optionals.
Ref<OptionalObject> sum_of_optionals(const Op& op, Inputs in, int64_t i) {
  Ref<OptionalObject> sum;
  for (const Value* handles : in) {
    const OptionalObject* next = optional_at(*handles, i);
    if (!next) return {};
    if (sum) sum = sum_of(op, *sum, *next);
    else {
      sum = Ref<OptionalObject>::adopt(new OptionalObject);
      sum->components = next->components;
    }
  }
  return sum;
}

bool add_variants(const Op& op, const Attrs&, Inputs in, std::span<Shape>, ValueList& outputs) {
  if (in[0]->dtype != DType::kVariant) return false;
  Value out = handles_like(*in[0]);
  for (int64_t i = 0; i < out.size; ++i) {
    if (Ref<OptionalObject> optional = sum_of_optionals(op, in, i)) {
      set_handle(out, i, std::move(optional));
      continue;
    }
    Ref<ListObject> sum;
    for (size_t k = 0; k < in.size(); ++k) {
      const ListObject& next = list_at(op, *in[k], i);
      sum = sum ? sum_of(op, *sum, next) : next.copy();
    }
    set_handle(out, i, std::move(sum));
  }
  outputs.push_back(std::move(out));
  return true;
}

bool zero_variants(const Op& op, const Attrs&, Inputs in, std::span<Shape>, ValueList& outputs) {
  if (in[0]->dtype != DType::kVariant) return false;
  Value out = handles_like(*in[0]);
  for (int64_t i = 0; i < out.size; ++i) {
    if (const OptionalObject* optional = optional_at(*in[0], i)) {
      auto zeros = Ref<OptionalObject>::adopt(new OptionalObject);
      for (const Value& part : optional->components) zeros->components.push_back(run_one(op, {&part}));
      set_handle(out, i, std::move(zeros));
      continue;
    }
    Ref<ListObject> zeros = list_at(op, *in[0], i).copy();
    for (size_t k = 0; k < zeros->items.size(); ++k)
      if (const Value& item = zeros->items[k]; is_set(item)) zeros->items.set(k, run_one(op, {&item}));
    set_handle(out, i, std::move(zeros));
  }
  outputs.push_back(std::move(out));
  return true;
}

}  // namespace

IntVector ints_of(const Value& value) {
  IntVector list(size_t(value.size), 0);
  for (int64_t i = 0; i < value.size; ++i) {
    if (value.dtype == DType::kInt64) list[size_t(i)] = static_cast<const int64_t*>(value.data)[i];
    else if (value.dtype == DType::kInt32) list[size_t(i)] = static_cast<const int32_t*>(value.data)[i];
    else list[size_t(i)] = static_cast<const int16_t*>(value.data)[i];
  }
  return list;
}

Shape said_shape(const Value& value) {
  if (value.shape.rank() == 0) return Shape::unknown_rank();
  const IntVector dims = ints_of(value);
  return Shape(std::span<const int64_t>(dims.data(), dims.size()));
}

void check_fits(const Op& op, const Shape& expected, const Shape& got) {
  if (!expected.compatible_with(got))
    fail_invalid(op.tag, "the element must have shape " + expected.to_string() + ": got " + got.to_string());
}

Shape merged_shape(const Op& op, const Shape& a, const Shape& b) {
  if (!a.compatible_with(b))
    fail_invalid(op.tag, "element shapes must agree: got " + a.to_string() + " and " + b.to_string());
  if (!a.has_rank()) return b;
  Shape shape = a;
  if (b.has_rank())
    for (int i = 0; i < a.rank(); ++i)
      if (a[i] < 0) shape.set(i, b[i]);
  return shape;
}

Shape with_known_sizes(const Op& op, Shape shape, const ListItems& items) {
  for (size_t i = 0; i < items.size() && !shape.fully_known(); ++i)
    if (is_set(items[i])) shape = merged_shape(op, shape, items[i].shape);
  return shape;
}

Value zeros_of(DType dtype, Shape shape) {
  Value zeros = Value::allocate(cpu_device(), dtype, std::move(shape));
  clear_elements(dtype, static_cast<char*>(zeros.data), zeros.size);
  return zeros;
}

Value part_of(const Value& tensor, int64_t begin, int64_t count) {
  Value part = tensor;
  const int64_t rows = tensor.shape[0];
  const int64_t row_size = rows == 0 ? 0 : tensor.size / rows;
  part.shape.set(0, count);
  part.size = rows == 0 ? 0 : row_size * count;
  part.data = static_cast<char*>(tensor.data) + begin * row_size * int64_t(size_of(tensor.dtype));
  return part;
}

std::vector<Value> rows_of(const Value& tensor) {
  std::vector<Value> rows;
  rows.reserve(size_t(tensor.shape[0]));
  for (int64_t i = 0; i < tensor.shape[0]; ++i) rows.emplace_back(part_of(tensor, i, 1)).shape.erase(0);
  return rows;
}

Value join_elements(DType dtype, Shape shape, std::span<const Value* const> items) {
  Value out = Value::allocate(cpu_device(), dtype, std::move(shape));
  if (items.empty()) return out;
  const int64_t size = out.size / int64_t(items.size());
  auto* to = static_cast<char*>(out.data);
  for (const Value* item : items) {
    if (is_set(*item)) copy_elements(*item, to);
    else clear_elements(dtype, to, size);
    to += size * int64_t(size_of(dtype));
  }
  return out;
}

Value concat_elements(const ListObject& list, Shape shape, const int64_t* length) {
  int64_t row = 1;
  for (int i = 1; i < shape.rank(); ++i) row *= shape[i];
  Value out = Value::allocate(cpu_device(), list.element_dtype, std::move(shape));
  auto* to = static_cast<char*>(out.data);
  for (size_t i = 0; i < list.items.size(); ++i) {
    if (is_set(list.items[i])) copy_elements(list.items[i], to);
    else clear_elements(list.element_dtype, to, length[i] * row);
    to += length[i] * row * int64_t(size_of(list.element_dtype));
  }
  return out;
}

void resize_items(const Op& op, ListObject& list, int64_t count) {
  if (count > kMostElements)
    fail_exhausted(op.tag, "a list of " + std::to_string(count) + " elements is too long");
  // The vector's memory is not the allocator's, but its limit holds here too: asking is enough.
  if (count > kLongList) Buffer(cpu_device(), size_t(count) * sizeof(Value));
  list.items.resize(size_t(count));
}

void register_list_arithmetic() {
  register_share_rule("AddN", add_variants);
  register_share_rule("ZerosLike", zero_variants);
}

}  // namespace rw
