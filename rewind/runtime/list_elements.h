// Elements of lists: their shapes, cutting tensors into them, joining them, adding them up.
#pragma once

#include <span>
#include <vector>

#include "rewind/op/op.h"
#include "rewind/runtime/tensor_list.h"

namespace rw {

inline bool is_set(const Value& item) { return item.dtype != DType::kInvalid; }
IntVector ints_of(const Value& value);  // int16, int32 or int64, flattened
// The element shape that an op's input says: a scalar -1 for an unknown rank, else the sizes.
Shape said_shape(const Value& value);
void check_fits(const Op& op, const Shape& expected, const Shape& got);
// What both shapes say together; throws InvalidArgumentError when they contradict each other.
Shape merged_shape(const Op& op, const Shape& a, const Shape& b);
// Unknown sizes from the elements that were set.
Shape with_known_sizes(const Op& op, Shape shape, const ListItems& items);

Value zeros_of(DType dtype, Shape shape);
// `count` rows from row `begin` on, sharing the tensor's memory.
Value part_of(const Value& tensor, int64_t begin, int64_t count);
std::vector<Value> rows_of(const Value& tensor);
// One behind the other under a shape of as many elements; zeros for those that were never set.
Value join_elements(DType dtype, Shape shape, std::span<const Value* const> items);
// The same along the first axis, where element i is length[i] long.
Value concat_elements(const ListObject& list, Shape shape, const int64_t* length);
// Throws ResourceExhaustedError for a list of more elements than can be.
void resize_items(const Op& op, ListObject& list, int64_t count);

// Share rules of AddN and ZerosLike for variants: elementwise on lists of equal lengths.
void register_list_arithmetic();

}  // namespace rw
