#include "rewind/tensor/ops/list.h"

#include "rewind/tensor/apply.h"

namespace rw {

Tensor empty_tensor_list(const Tensor& element_shape, DType element_dtype, const Tensor& max_num_elements) {
  return apply_one(RW_OP("EmptyTensorList"), {&element_shape, &max_num_elements},
                   {{"element_dtype", element_dtype}});
}
Tensor tensor_list_reserve(const Tensor& element_shape, const Tensor& num_elements, DType element_dtype) {
  return apply_one(RW_OP("TensorListReserve"), {&element_shape, &num_elements},
                   {{"element_dtype", element_dtype}});
}
Tensor tensor_list_from_tensor(const Tensor& tensor, const Tensor& element_shape) {
  return apply_one(RW_OP("TensorListFromTensor"), {&tensor, &element_shape});
}
Tensor tensor_list_scatter(const Tensor& tensor, const Tensor& indices, const Tensor& element_shape,
                           const Tensor& num_elements) {
  return apply_one(RW_OP("TensorListScatterV2"), {&tensor, &indices, &element_shape, &num_elements});
}
Tensor tensor_list_split(const Tensor& tensor, const Tensor& element_shape, const Tensor& lengths) {
  return apply_one(RW_OP("TensorListSplit"), {&tensor, &element_shape, &lengths});
}

Tensor tensor_list_push_back(const Tensor& list, const Tensor& item) {
  return apply_one(RW_OP("TensorListPushBack"), {&list, &item});
}
std::pair<Tensor, Tensor> tensor_list_pop_back(const Tensor& list, const Tensor& element_shape,
                                               DType element_dtype) {
  Tensors out =
      apply(RW_OP("TensorListPopBack"), {&list, &element_shape}, {{"element_dtype", element_dtype}});
  return {out[0], out[1]};
}
Tensor tensor_list_get_item(const Tensor& list, const Tensor& index, const Tensor& element_shape,
                            DType element_dtype) {
  return apply_one(RW_OP("TensorListGetItem"), {&list, &index, &element_shape},
                   {{"element_dtype", element_dtype}});
}
Tensor tensor_list_set_item(const Tensor& list, const Tensor& index, const Tensor& item, bool grow) {
  return apply_one(RW_OP("TensorListSetItem"), {&list, &index, &item},
                   grow ? Attrs{{"resize_if_index_out_of_bounds", true}} : Attrs());
}
Tensor tensor_list_scatter_into(const Tensor& list, const Tensor& tensor, const Tensor& indices) {
  return apply_one(RW_OP("TensorListScatterIntoExistingList"), {&list, &tensor, &indices});
}
Tensor tensor_list_resize(const Tensor& list, const Tensor& size) {
  return apply_one(RW_OP("TensorListResize"), {&list, &size});
}

Tensor tensor_list_length(const Tensor& list) { return apply_one(RW_OP("TensorListLength"), {&list}); }
Tensor tensor_list_element_shape(const Tensor& list) {
  return apply_one(RW_OP("TensorListElementShape"), {&list}, {{"shape_type", DType::kInt32}});
}
Tensor tensor_list_stack(const Tensor& list, const Tensor& element_shape, DType element_dtype,
                         int64_t num_elements) {
  return apply_one(RW_OP("TensorListStack"), {&list, &element_shape},
                   {{"element_dtype", element_dtype}, {"num_elements", num_elements}});
}
Tensor tensor_list_gather(const Tensor& list, const Tensor& indices, const Tensor& element_shape,
                          DType element_dtype) {
  return apply_one(RW_OP("TensorListGather"), {&list, &indices, &element_shape},
                   {{"element_dtype", element_dtype}});
}
std::pair<Tensor, Tensor> tensor_list_concat(const Tensor& list, const Tensor& element_shape,
                                             const Tensor& leading_dims, DType element_dtype) {
  Tensors out = apply(RW_OP("TensorListConcatV2"), {&list, &element_shape, &leading_dims},
                      {{"element_dtype", element_dtype}});
  return {out[0], out[1]};
}

}  // namespace rw
