// Gradients of lists: the gradient of a list is a list of as many gradients. Pushing and popping, stacking
// and taking rows, reading and writing a place are each other's transposes.
#include "rewind/tensor/ops/list.h"
#include "rewind/autodiff/grad_ops.h"
#include "rewind/autodiff/rule.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/ops/shape.h"

namespace rw {
namespace {

// A list of as many elements, none of which is set: zeros.
Tensor zero_list(const Tensor& like, DType dtype) {
  return tensor_list_reserve(tensor_list_element_shape(like), tensor_list_length(like), dtype);
}
DType element_dtype(const GradContext& g) { return g.attr<DType>("element_dtype"); }

Tensor row_shape(GradContext& g, int input) {
  const Shape& s = g.input_shape(input);
  if (s.fully_known()) {
    Shape rows = s;
    rows.erase(0);
    return Ints(rows).tensor();
  }
  return slice(g.input_shape_tensor(input), {1}, {-1});
}

void push_back_grad(GradContext& g) {
  auto [list, item] = tensor_list_pop_back(g.grad(), g.input_shape_tensor(1), g.input_dtype(1));
  if (g.wants(0)) g.set(0, list);
  if (g.wants(1)) g.set(1, item);
}

void pop_back_grad(GradContext& g) {
  const Tensor rest = g.has_grad(0) ? g.grad(0) : zero_list(g.output(0), element_dtype(g));
  g.set(0, tensor_list_push_back(rest, g.grad(1)));
}

void get_item_grad(GradContext& g) {
  g.set(0, tensor_list_set_item(zero_list(g.input(0), element_dtype(g)), g.input(1), g.grad()));
}

void set_item_grad(GradContext& g) {
  const Tensor& index = g.input(1);
  if (g.wants(0)) {
    Tensor list = tensor_list_set_item(g.grad(), index, zeros_like_input(g, 2));
    if (g.attr<bool>("resize_if_index_out_of_bounds"))
      list = tensor_list_resize(list, tensor_list_length(g.input(0)));
    g.set(0, list);
  }
  if (g.wants(2)) g.set(2, tensor_list_get_item(g.grad(), index, g.input_shape_tensor(2), g.input_dtype(2)));
}

void stack_grad(GradContext& g) {
  Shape rows = g.output_shape(0);
  if (rows.has_rank()) rows.erase(0);
  g.set(0, tensor_list_from_tensor(g.grad(), rows.has_rank() ? Ints(rows).tensor() : constant(-1)));
}

void from_tensor_grad(GradContext& g) {
  const Shape& s = g.input_shape(0);
  g.set(0, tensor_list_stack(g.grad(), row_shape(g, 0), g.input_dtype(0), s.has_rank() ? s[0] : -1));
}

void resize_grad(GradContext& g) { g.set(0, tensor_list_resize(g.grad(), tensor_list_length(g.input(0)))); }

// An element that is read several times gets the sum of its gradients.
void list_gather_grad(GradContext& g) {
  const Tensor indices = reshape(g.input(1), {-1});
  const Tensors unique = rw::apply(RW_OP("Unique"), {&indices});
  const Tensor count = size(unique[0]);
  const Tensor sums = apply_one(RW_OP("UnsortedSegmentSum"), {&g.grad(), &unique[1], &count});
  const Tensor& list = g.input(0);
  g.set(0, tensor_list_scatter(sums, unique[0], tensor_list_element_shape(list), tensor_list_length(list)));
}

void scatter_grad(GradContext& g) {
  g.set(0, tensor_list_gather(g.grad(), g.input(1), row_shape(g, 0), g.input_dtype(0)));
}

void scatter_into_grad(GradContext& g) {
  const Tensor& indices = g.input(2);
  if (g.wants(0)) {
    const Tensor cleared = tensor_list_scatter_into(g.grad(), zeros_like_input(g, 1), indices);
    g.set(0, tensor_list_resize(cleared, tensor_list_length(g.input(0))));
  }
  if (g.wants(1)) g.set(1, tensor_list_gather(g.grad(), indices, row_shape(g, 1), g.input_dtype(1)));
}

void concat_grad(GradContext& g) {
  const Tensor shape = tensor_list_element_shape(g.input(0));
  g.set(0, tensor_list_split(g.grad(), shape, g.output(1)));
}

// The gradient of an optional is an optional of the gradients.
void optional_from_value_grad(GradContext& g) {
  if (!g.has_grad(0)) return;
  std::vector<DType> types;
  std::vector<Shape> shapes;
  for (int i = 0; i < g.num_inputs(); ++i) {
    types.push_back(g.input_dtype(i));
    shapes.push_back(g.input_shape(i));
  }
  const Tensor optional = g.grad();
  const Tensors parts =
      rw::apply(RW_OP("OptionalGetValue"), {&optional}, {{"output_types", types}, {"output_shapes", shapes}});
  for (int i = 0; i < g.num_inputs(); ++i)
    if (g.wants(i)) g.set(i, parts[size_t(i)]);
}

void optional_get_value_grad(GradContext& g) {
  std::vector<Tensor> parts;
  for (int i = 0; i < g.num_outputs(); ++i) parts.push_back(g.grad(i));
  g.set(0, rw::apply(RW_OP("OptionalFromValue"), parts)[0]);
}

void split_grad(GradContext& g) {
  const Tensor& lengths = g.input(2);
  const Tensor shape = concat({constant({-1}), row_shape(g, 0)}, 0);
  g.set(0, tensor_list_concat(g.grad(), shape, lengths, g.input_dtype(0)).first);
}

}  // namespace

void register_list_gradients() {
  register_gradient("TensorListPushBack", kNeedsNothing, push_back_grad);
  register_gradient("TensorListPopBack", {0, 1}, pop_back_grad);
  register_gradient("TensorListGetItem", needs_inputs({0, 1}), get_item_grad);
  register_gradient("TensorListSetItem", needs_inputs({0, 1}), set_item_grad);
  register_gradient("TensorListStack", kNeedsNothing, stack_grad);
  register_gradient("TensorListFromTensor", kNeedsNothing, from_tensor_grad);
  register_gradient("TensorListResize", needs_inputs({0}), resize_grad);
  register_gradient("TensorListGather", needs_inputs({0, 1}), list_gather_grad);
  for (const char* op : {"TensorListScatter", "TensorListScatterV2"})
    register_gradient(op, needs_inputs({1}), scatter_grad);
  register_gradient("TensorListScatterIntoExistingList", needs_inputs({0, 2}), scatter_into_grad);
  for (const char* op : {"TensorListConcat", "TensorListConcatV2"})
    register_gradient(op, {1, 2}, concat_grad);
  register_gradient("TensorListSplit", needs_inputs({2}), split_grad);
  register_gradient("OptionalFromValue", kNeedsNothing, optional_from_value_grad);
  register_gradient("OptionalGetValue", kNeedsNothing, optional_get_value_grad);
  for (const char* op : {"EmptyTensorList", "TensorListReserve", "TensorListLength", "TensorListElementShape",
                         "TensorListConcatLists", "OptionalNone", "OptionalHasValue"})
    register_not_differentiable(op);
}

}  // namespace rw
