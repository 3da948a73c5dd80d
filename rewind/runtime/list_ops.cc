#include "rewind/runtime/list_ops.h"

#include <algorithm>

#include "rewind/base/error.h"
#include "rewind/op/table.h"
#include "rewind/runtime/eager.h"
#include "rewind/runtime/list_elements.h"
#include "rewind/runtime/tensor_list.h"

namespace rw {
namespace {

using Inputs = std::span<const Value* const>;

int64_t count_of(const ListObject& list) { return int64_t(list.items.size()); }
int64_t int_of(const Value& v) { return ints_of(v)[0]; }

void check_dtype(const Op& op, const ListObject& list, DType dtype) {
  if (list.element_dtype != dtype)
    fail_invalid(op.tag, "the list's elements are " + std::string(name_of(list.element_dtype)) + ", not " +
                             std::string(name_of(dtype)));
}

void check_item(const Op& op, const ListObject& list, const Value& item) {
  check_dtype(op, list, item.dtype);
  check_fits(op, list.element_shape, item.shape);
}

const ListObject& typed_list(const Op& op, const Attrs& attrs, const Value& handle) {
  const ListObject& list = list_of(handle, op.tag);
  check_dtype(op, list, attr_as<DType>(op, attrs, "element_dtype"));
  return list;
}

void check_place(const Op& op, const ListObject& list, int64_t index) {
  if (index < 0 || index >= count_of(list))
    fail_invalid(op.tag, "the index must be in [0, " + std::to_string(list.items.size()) + "): got " +
                             std::to_string(index));
}

Ref<ListObject> new_list(DType dtype, const Value& element_shape) {
  return Ref<ListObject>::adopt(new ListObject(dtype, said_shape(element_shape)));
}

// An element as it is read: what was set, or zeros, for which the shape must be known.
Value read_item(const Op& op, const ListObject& list, size_t i, const Shape& said, bool look_at_others) {
  const Value& item = list.items[i];
  if (is_set(item)) {
    check_fits(op, said, item.shape);
    return item;
  }
  Shape shape = merged_shape(op, said, list.element_shape);
  if (look_at_others) shape = with_known_sizes(op, std::move(shape), list.items);
  if (!shape.fully_known())
    fail_invalid(op.tag, "element " + std::to_string(i) +
                             " was never set, and zeros need a known element shape: it is " +
                             shape.to_string());
  return zeros_of(list.element_dtype, std::move(shape));
}

void empty_list(const Op& op, const Attrs& attrs, Inputs in, ValueList& out) {
  auto list = new_list(attr_as<DType>(op, attrs, "element_dtype"), *in[0]);
  list->max_num_elements = int_of(*in[1]);
  out.push_back(handle_of(std::move(list)));
}

void reserve(const Op& op, const Attrs& attrs, Inputs in, ValueList& out) {
  const int64_t count = int_of(*in[1]);
  if (count < 0)
    fail_invalid(op.tag, "the number of elements must not be negative: got " + std::to_string(count));
  auto list = new_list(attr_as<DType>(op, attrs, "element_dtype"), *in[0]);
  resize_items(op, *list, count);
  out.push_back(handle_of(std::move(list)));
}

void push_back(const Op& op, const Attrs&, Inputs in, ValueList& out) {
  const ListObject& from = list_of(*in[0], op.tag);
  check_item(op, from, *in[1]);
  if (from.max_num_elements >= 0 && count_of(from) >= from.max_num_elements)
    fail_invalid(op.tag, "the list is full: it holds " + std::to_string(from.items.size()) + " elements of " +
                             std::to_string(from.max_num_elements));
  auto list = changeable(*in[0], op.tag);
  list->items.push_back(*in[1]);
  out.push_back(handle_of(std::move(list)));
}

void pop_back(const Op& op, const Attrs& attrs, Inputs in, ValueList& out) {
  const ListObject& from = typed_list(op, attrs, *in[0]);
  if (from.items.empty()) fail_invalid(op.tag, "the list is empty");
  Value item = read_item(op, from, from.items.size() - 1, said_shape(*in[1]), false);
  auto list = changeable(*in[0], op.tag);
  list->items.pop_back();
  out.push_back(handle_of(std::move(list)));
  out.push_back(std::move(item));
}

void get_item(const Op& op, const Attrs& attrs, Inputs in, ValueList& out) {
  const ListObject& list = typed_list(op, attrs, *in[0]);
  const int64_t index = int_of(*in[1]);
  check_place(op, list, index);
  out.push_back(read_item(op, list, size_t(index), said_shape(*in[2]), true));
}

void set_item(const Op& op, const Attrs& attrs, Inputs in, ValueList& out) {
  const ListObject& from = list_of(*in[0], op.tag);
  const int64_t index = int_of(*in[1]);
  check_item(op, from, *in[2]);
  const bool grow = attr_as<bool>(op, attrs, "resize_if_index_out_of_bounds") && index >= count_of(from);
  if (!grow) check_place(op, from, index);
  auto list = changeable(*in[0], op.tag);
  if (grow) resize_items(op, *list, index + 1);
  list->items.set(size_t(index), *in[2]);
  out.push_back(handle_of(std::move(list)));
}

void length(const Op& op, const Attrs&, Inputs in, ValueList& out) {
  Value& count = out.emplace_back(Value::allocate(cpu_device(), DType::kInt32, {}));
  *static_cast<int32_t*>(count.data) = int32_t(count_of(list_of(*in[0], op.tag)));
}

void element_shape(const Op& op, const Attrs& attrs, Inputs in, ValueList& out) {
  const Shape& shape = list_of(*in[0], op.tag).element_shape;
  const DType dtype = attr_as<DType>(op, attrs, "shape_type");
  Value dims = Value::allocate(cpu_device(), dtype, shape.has_rank() ? Shape{shape.rank()} : Shape());
  for (int64_t i = 0; i < dims.size; ++i) {
    const int64_t d = shape.has_rank() ? shape[int(i)] : -1;
    if (dtype == DType::kInt32) static_cast<int32_t*>(dims.data)[i] = int32_t(d);
    else static_cast<int64_t*>(dims.data)[i] = d;
  }
  out.push_back(std::move(dims));
}

void resize(const Op& op, const Attrs&, Inputs in, ValueList& out) {
  const int64_t count = int_of(*in[1]);
  if (count < 0) fail_invalid(op.tag, "the size must not be negative: got " + std::to_string(count));
  auto list = changeable(*in[0], op.tag);
  resize_items(op, *list, count);
  out.push_back(handle_of(std::move(list)));
}

// Elements one behind the other; those that were never set are zeros.
Value joined(const Op& op, const ListObject& list, std::span<const Value* const> items, const Shape& said) {
  Shape shape = merged_shape(op, said, list.element_shape);
  for (const Value* v : items)
    if (is_set(*v)) shape = merged_shape(op, shape, v->shape);
  if (!shape.fully_known())
    fail_invalid(op.tag, std::string(items.empty() ? "no elements are joined" : "no element was set") +
                             ", and the element shape is not known: it is " + shape.to_string());
  shape.insert(0, int64_t(items.size()));
  return join_elements(list.element_dtype, std::move(shape), items);
}

void stack(const Op& op, const Attrs& attrs, Inputs in, ValueList& out) {
  const ListObject& list = typed_list(op, attrs, *in[0]);
  const auto expected = attr_as<int64_t>(op, attrs, "num_elements");
  if (expected >= 0 && expected != count_of(list))
    fail_invalid(op.tag, "the list must have " + std::to_string(expected) + " elements: it has " +
                             std::to_string(list.items.size()));
  std::vector<const Value*> items;
  for (size_t i = 0; i < list.items.size(); ++i) items.push_back(&list.items[i]);
  out.push_back(joined(op, list, items, said_shape(*in[1])));
}

void from_tensor(const Op&, const Attrs&, Inputs in, ValueList& out) {
  auto list = new_list(in[0]->dtype, *in[1]);
  for (Value& row : rows_of(*in[0])) list->items.push_back(std::move(row));
  out.push_back(handle_of(std::move(list)));
}

void gather(const Op& op, const Attrs& attrs, Inputs in, ValueList& out) {
  const ListObject& list = typed_list(op, attrs, *in[0]);
  std::vector<const Value*> items;
  for (const int64_t index : ints_of(*in[1])) {
    check_place(op, list, index);
    items.push_back(&list.items[size_t(index)]);
  }
  out.push_back(joined(op, list, items, said_shape(*in[2])));
}

void scatter_rows(const Op& op, ListObject& list, const Value& tensor, const Value& indices, bool grow) {
  const std::vector<Value> rows = rows_of(tensor);
  const IntVector places = ints_of(indices);
  for (const int64_t index : places)
    if (index < 0) fail_invalid(op.tag, "indices must not be negative: got " + std::to_string(index));
  const int64_t last = places.empty() ? -1 : *std::max_element(places.begin(), places.end());
  if (grow && last >= count_of(list)) resize_items(op, list, last + 1);
  for (size_t i = 0; i < rows.size(); ++i) {
    check_place(op, list, places[i]);
    list.items.set(size_t(places[i]), rows[i]);
  }
}

void scatter(const Op& op, const Attrs&, Inputs in, ValueList& out) {
  auto list = new_list(in[0]->dtype, *in[2]);
  const int64_t count = in.size() > 3 ? int_of(*in[3]) : -1;
  if (count < -1)
    fail_invalid(op.tag, "the number of elements must be -1 or more: got " + std::to_string(count));
  if (count >= 0) resize_items(op, *list, count);
  scatter_rows(op, *list, *in[0], *in[1], count < 0);
  out.push_back(handle_of(std::move(list)));
}

void scatter_into(const Op& op, const Attrs&, Inputs in, ValueList& out) {
  const ListObject& from = list_of(*in[0], op.tag);
  check_dtype(op, from, in[1]->dtype);
  Shape row = in[1]->shape;
  row.erase(0);
  check_fits(op, from.element_shape, row);
  auto list = changeable(*in[0], op.tag);
  scatter_rows(op, *list, *in[1], *in[2], true);
  out.push_back(handle_of(std::move(list)));
}

// An element that was never set has the first size that the element shape says, else leading_dims, else that
// of the elements that were set, if they agree.
void concat(const Op& op, const Attrs& attrs, Inputs in, ValueList& out) {
  const ListObject& list = typed_list(op, attrs, *in[0]);
  const Shape said = in.size() > 1 ? said_shape(*in[1]) : attr_as<Shape>(op, attrs, "element_shape");
  const IntVector leading = in.size() > 2 ? ints_of(*in[2]) : IntVector();
  Shape shape = list.element_shape;
  int64_t first = shape.rank() > 0 ? shape[0] : -1;
  if (first < 0 && said.rank() > 0) first = said[0];
  int64_t common = -2;  // of the elements that were set; -1 when they differ
  for (Shape s : {said, list.element_shape}) {
    if (s.rank() > 0) s.set(0, -1);
    if (shape.rank() > 0) shape.set(0, -1);
    shape = merged_shape(op, shape, s);
  }
  for (size_t i = 0; i < list.items.size(); ++i) {
    const Value& v = list.items[i];
    if (!is_set(v)) continue;
    Shape s = v.shape;
    if (s.rank() == 0) fail_invalid(op.tag, "elements must have a first axis: one is a scalar");
    common = common == -2 || common == s[0] ? s[0] : -1;
    s.set(0, -1);
    shape = merged_shape(op, shape, s);
  }
  Value lengths = Value::allocate(cpu_device(), DType::kInt64, {count_of(list)});
  auto* length = static_cast<int64_t*>(lengths.data);
  int64_t total = 0;
  for (size_t i = 0; i < list.items.size(); ++i) {
    if (is_set(list.items[i])) length[i] = list.items[i].shape[0];
    else if (first >= 0) length[i] = first;
    else if (i < leading.size()) length[i] = leading[i];
    else length[i] = common;
    if (length[i] < 0)
      fail_invalid(op.tag, "element " + std::to_string(i) +
                               " was never set, and nothing says how long it is; leading_dims can");
    if (__builtin_add_overflow(total, length[i], &total))
      fail_invalid(op.tag, "the lengths' sum leaves int64");
  }
  if (shape.rank() > 0) shape.set(0, total);
  if (!shape.fully_known() || shape.rank() == 0)
    fail_invalid(op.tag, "all sizes of the elements but the first must be known: the element shape is " +
                             shape.to_string());
  out.push_back(concat_elements(list, std::move(shape), length));
  out.push_back(std::move(lengths));
}

void split(const Op& op, const Attrs&, Inputs in, ValueList& out) {
  auto list = new_list(in[0]->dtype, *in[1]);
  const Value& whole = *in[0];
  int64_t at = 0;
  for (const int64_t n : ints_of(*in[2])) {
    if (n < 0) fail_invalid(op.tag, "lengths must not be negative: got " + std::to_string(n));
    if (n > whole.shape[0] - at)
      fail_invalid(op.tag, "the lengths must sum to the tensor's, " + std::to_string(whole.shape[0]) +
                               ": they are longer");
    list->items.push_back(part_of(whole, at, n));
    at += n;
  }
  if (at != whole.shape[0])
    fail_invalid(op.tag, "the lengths must sum to the tensor's, " + std::to_string(whole.shape[0]) +
                             ": they sum to " + std::to_string(at));
  out.push_back(handle_of(std::move(list)));
}

void concat_lists(const Op& op, const Attrs& attrs, Inputs in, ValueList& out) {
  typed_list(op, attrs, *in[0]);
  const ListObject& b = typed_list(op, attrs, *in[1]);
  auto list = changeable(*in[0], op.tag);
  if (!(list->element_shape == b.element_shape))
    fail_invalid(op.tag, "both lists must have one element shape: got " + list->element_shape.to_string() +
                             " and " + b.element_shape.to_string());
  const ListItems behind = b.items;
  for (size_t i = 0; i < behind.size(); ++i) list->items.push_back(behind[i]);
  out.push_back(handle_of(std::move(list)));
}

}  // namespace

void register_list_runtime_kernels() {
  register_runtime_kernel("EmptyTensorList", empty_list);
  register_runtime_kernel("TensorListReserve", reserve);
  register_runtime_kernel("TensorListPushBack", push_back);
  register_runtime_kernel("TensorListPopBack", pop_back);
  register_runtime_kernel("TensorListGetItem", get_item);
  register_runtime_kernel("TensorListSetItem", set_item);
  register_runtime_kernel("TensorListLength", length);
  register_runtime_kernel("TensorListElementShape", element_shape);
  register_runtime_kernel("TensorListResize", resize);
  register_runtime_kernel("TensorListStack", stack);
  register_runtime_kernel("TensorListFromTensor", from_tensor);
  register_runtime_kernel("TensorListGather", gather);
  register_runtime_kernel("TensorListScatter", scatter);
  register_runtime_kernel("TensorListScatterV2", scatter);
  register_runtime_kernel("TensorListScatterIntoExistingList", scatter_into);
  register_runtime_kernel("TensorListConcat", concat);
  register_runtime_kernel("TensorListConcatV2", concat);
  register_runtime_kernel("TensorListSplit", split);
  register_runtime_kernel("TensorListConcatLists", concat_lists);
  register_list_arithmetic();
}

}  // namespace rw
