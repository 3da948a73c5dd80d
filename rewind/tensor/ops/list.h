// Lists of tensors as ops: what rw::TensorArray and the gradients of lists are made of. A list is a variant
// scalar and never changes: each function gives a new one. An element shape is a tensor of sizes, -1 where
// one is unknown, or the scalar -1.
#pragma once

#include <utility>

#include "rewind/tensor/tensor.h"

namespace rw {

// Without elements; it holds at most max_num_elements of them (-1: any number).
Tensor empty_tensor_list(const Tensor& element_shape, DType element_dtype, const Tensor& max_num_elements);
// Of elements that are not set yet and read as zeros.
Tensor tensor_list_reserve(const Tensor& element_shape, const Tensor& num_elements, DType element_dtype);
Tensor tensor_list_from_tensor(const Tensor& tensor, const Tensor& element_shape);
// Row i becomes element indices[i] of a list of num_elements (-1: as many as the indices need).
Tensor tensor_list_scatter(const Tensor& tensor, const Tensor& indices, const Tensor& element_shape,
                           const Tensor& num_elements);
Tensor tensor_list_split(const Tensor& tensor, const Tensor& element_shape, const Tensor& lengths);

Tensor tensor_list_push_back(const Tensor& list, const Tensor& item);
std::pair<Tensor, Tensor> tensor_list_pop_back(const Tensor& list, const Tensor& element_shape,
                                               DType element_dtype);
Tensor tensor_list_get_item(const Tensor& list, const Tensor& index, const Tensor& element_shape,
                            DType element_dtype);
Tensor tensor_list_set_item(const Tensor& list, const Tensor& index, const Tensor& item, bool grow = false);
Tensor tensor_list_scatter_into(const Tensor& list, const Tensor& tensor, const Tensor& indices);
Tensor tensor_list_resize(const Tensor& list, const Tensor& size);

Tensor tensor_list_length(const Tensor& list);
Tensor tensor_list_element_shape(const Tensor& list);
// num_elements, if it is not -1, must be the list's length: a trace then knows the size.
Tensor tensor_list_stack(const Tensor& list, const Tensor& element_shape, DType element_dtype,
                         int64_t num_elements = -1);
Tensor tensor_list_gather(const Tensor& list, const Tensor& indices, const Tensor& element_shape,
                          DType element_dtype);
// Joined along the first axis, and the elements' lengths. leading_dims: lengths of elements that were never
// set.
std::pair<Tensor, Tensor> tensor_list_concat(const Tensor& list, const Tensor& element_shape,
                                             const Tensor& leading_dims, DType element_dtype);

}  // namespace rw
