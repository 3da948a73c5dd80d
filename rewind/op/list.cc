// Lists of tensors: a variant scalar holds a list whose elements have one dtype and a partly known shape.
// Every op gives a new list; elements are shared, not copied. An optional, which is a variant scalar too,
// holds tensors of any types, or none.
#include <algorithm>

#include "rewind/op/table.h"

namespace rw {
namespace {

// The element shape that input i says: -1 for an unknown rank, or sizes, -1 where one is unknown.
Shape element_shape(const ShapeContext& ctx, int i) {
  const Shape& s = ctx.input(i);
  if (s.has_rank() && s.rank() > 1) ctx.fail(ctx.describe(i) + ", and must have rank 0 or 1");
  IntVector dims;
  if (s.fully_known() && ctx.ints(i, &dims)) {
    if (s.rank() == 1) {
      for (const int64_t d : dims)
        if (d < -1) ctx.fail("sizes of an element must be -1 or more: got " + std::to_string(d));
      return Shape(std::span<const int64_t>(dims.data(), dims.size()));
    }
    if (dims[0] != -1)
      ctx.fail("an element shape that is a scalar must be -1, for unknown: got " + std::to_string(dims[0]));
    return Shape::unknown_rank();
  }
  const bool ranked = s.has_rank() && s.rank() == 1 && s[0] >= 0;
  return ranked ? Shape::unknown_of_rank(int(s[0])) : Shape::unknown_rank();
}

Shape with_first(int64_t size, Shape shape) {
  if (shape.has_rank()) shape.insert(0, size);
  return shape;
}

// A tensor's shape without its first axis.
Shape rows_of(const ShapeContext& ctx, int i) {
  Shape s = ctx.input(i);
  if (!s.has_rank()) return s;
  if (s.rank() == 0) ctx.fail(ctx.describe(i) + ", and must have a first axis");
  s.erase(0);
  return s;
}

void require_fit(const ShapeContext& ctx, const Shape& element, const Shape& row) {
  if (!element.compatible_with(row))
    ctx.fail("elements must have the list's shape " + element.to_string() + ": got " + row.to_string());
}

void require_count(const ShapeContext& ctx, int tensor, int indices) {
  const int64_t count = ctx.input(indices).num_elements();
  const Shape& s = ctx.input(tensor);
  if (count >= 0 && s.has_rank() && s[0] >= 0 && s[0] != count)
    ctx.fail("there must be one index a row: got " + std::to_string(count) + " indices for " +
             std::to_string(s[0]) + " rows");
}

void new_list(ShapeContext& ctx) {  // (element_shape, a number)
  element_shape(ctx, 0);
  ctx.require_scalar(1);
  ctx.output(0, Shape());
}
void changed_list(ShapeContext& ctx) {  // (list, anything)
  ctx.require_scalar(0);
  ctx.output(0, Shape());
}
void resized_list(ShapeContext& ctx) {
  ctx.require_scalar(1);
  changed_list(ctx);
}
void pop_back(ShapeContext& ctx) {
  ctx.require_scalar(0);
  ctx.output(0, Shape());
  ctx.output(1, element_shape(ctx, 1));
}
void get_item(ShapeContext& ctx) {
  ctx.require_scalar(0);
  ctx.require_scalar(1);
  ctx.output(0, element_shape(ctx, 2));
}
void list_element_shape(ShapeContext& ctx) {
  ctx.require_scalar(0);
  ctx.output(0, Shape::unknown_rank());
}
void stack(ShapeContext& ctx) {
  ctx.require_scalar(0);
  ctx.output(0, with_first(std::max<int64_t>(ctx.attr<int64_t>("num_elements"), Shape::kUnknown),
                           element_shape(ctx, 1)));
}
void from_tensor(ShapeContext& ctx) {
  require_fit(ctx, element_shape(ctx, 1), rows_of(ctx, 0));
  ctx.output(0, Shape());
}
void gather(ShapeContext& ctx) {
  ctx.require_scalar(0);
  ctx.output(0, with_first(ctx.input(1).num_elements(), element_shape(ctx, 2)));
}
void scatter(ShapeContext& ctx) {
  require_fit(ctx, element_shape(ctx, 2), rows_of(ctx, 0));
  require_count(ctx, 0, 1);
  if (ctx.num_inputs() == 4) ctx.require_scalar(3);
  ctx.output(0, Shape());
}
void scatter_into(ShapeContext& ctx) {
  ctx.require_scalar(0);
  rows_of(ctx, 1);
  require_count(ctx, 1, 2);
  ctx.output(0, Shape());
}
// Lengths along the first axis may differ from element to element, whatever the list's shape says of it.
void concat(ShapeContext& ctx) {
  ctx.require_scalar(0);
  Shape shape = ctx.num_inputs() > 1 ? element_shape(ctx, 1) : ctx.attr<Shape>("element_shape");
  if (shape.rank() == 0) ctx.fail("elements must have a first axis: the element shape is ()");
  if (shape.has_rank()) shape.set(0, Shape::kUnknown);
  if (ctx.num_inputs() > 2) ctx.require_rank(2, 1);
  ctx.output(0, shape);
  ctx.output(1, {Shape::kUnknown});
}
void split(ShapeContext& ctx) {
  ctx.require_rank(2, 1);
  Shape element = element_shape(ctx, 1);
  const Shape row = rows_of(ctx, 0);
  if (element.rank() == 0) ctx.fail("elements must have a first axis: the element shape is ()");
  if (element.has_rank()) element.erase(0);
  require_fit(ctx, element, row);
  ctx.output(0, Shape());
}
void from_optional(ShapeContext& ctx) {
  ctx.require_scalar(0);
  const auto shapes = ctx.attr<std::vector<Shape>>("output_shapes");
  if (int(shapes.size()) != ctx.num_outputs())
    ctx.fail("output_shapes must have one shape per type: got " + std::to_string(shapes.size()) + " for " +
             std::to_string(ctx.num_outputs()));
  for (int i = 0; i < ctx.num_outputs(); ++i) ctx.output(i, shapes[size_t(i)]);
}
void same_scalars(ShapeContext& ctx) {
  ctx.require_scalar(0);
  ctx.require_scalar(1);
  ctx.output(0, Shape());
}

}  // namespace

void register_list_ops(OpTable& t) {
  t.add(
       "EmptyTensorList(element_shape: shape_type, max_num_elements: int32) -> (handle: variant); "
       "element_dtype: type; shape_type: {int32, int64}")
      .shape(new_list)
      .host({"element_shape", "max_num_elements"})
      .runtime();
  t.add(
       "TensorListReserve(element_shape: shape_type, num_elements: int32) -> (handle: variant); "
       "element_dtype: "
       "type; shape_type: {int32, int64}")
      .shape(new_list)
      .host({"element_shape", "num_elements"})
      .runtime();
  t.add(
       "TensorListPushBack(input_handle: variant, tensor: element_dtype) -> (output_handle: variant); "
       "element_dtype: type")
      .shape(changed_list)
      .runtime();
  t.add(
       "TensorListPopBack(input_handle: variant, element_shape: int32) -> (output_handle: variant, tensor: "
       "element_dtype); element_dtype: type")
      .shape(pop_back)
      .host({"element_shape"})
      .runtime();
  t.add(
       "TensorListGetItem(input_handle: variant, index: int32, element_shape: Tshape) -> (item: "
       "element_dtype); "
       "element_dtype: type; Tshape: {int32, int64} = int32")
      .shape(get_item)
      .host({"index", "element_shape"})
      .runtime();
  t.add(
       "TensorListSetItem(input_handle: variant, index: int32, item: element_dtype) -> (output_handle: "
       "variant); "
       "element_dtype: type; resize_if_index_out_of_bounds: bool = false")
      .shape(resized_list)
      .host({"index"})
      .runtime();
  t.add("TensorListLength(input_handle: variant) -> (length: int32)")
      .shape(changed_list)
      .host({"length"})
      .runtime();
  t.add(
       "TensorListElementShape(input_handle: variant) -> (element_shape: shape_type); shape_type: {int32, "
       "int64}")
      .shape(list_element_shape)
      .host({"element_shape"})
      .runtime();
  t.add("TensorListResize(input_handle: variant, size: int32) -> (output_handle: variant)")
      .shape(resized_list)
      .host({"size"})
      .runtime();
  t.add(
       "TensorListStack(input_handle: variant, element_shape: int32) -> (tensor: element_dtype); "
       "element_dtype: "
       "type; num_elements: int = -1")
      .shape(stack)
      .host({"element_shape"})
      .runtime();
  t.add(
       "TensorListFromTensor(tensor: element_dtype, element_shape: shape_type) -> (output_handle: variant); "
       "element_dtype: type; shape_type: {int32, int64}")
      .shape(from_tensor)
      .host({"element_shape"})
      .runtime();
  t.add(
       "TensorListGather(input_handle: variant, indices: int32, element_shape: int32) -> (values: "
       "element_dtype); element_dtype: type")
      .shape(gather)
      .host({"indices", "element_shape"})
      .runtime();
  t.add(
       "TensorListScatter(tensor: element_dtype, indices: int32, element_shape: shape_type) -> "
       "(output_handle: "
       "variant); element_dtype: type; shape_type: {int32, int64}")
      .shape(scatter)
      .host({"indices", "element_shape"})
      .runtime();
  t.add(
       "TensorListScatterV2(tensor: element_dtype, indices: int32, element_shape: shape_type, num_elements: "
       "int32) -> (output_handle: variant); element_dtype: type; shape_type: {int32, int64}")
      .shape(scatter)
      .host({"indices", "element_shape", "num_elements"})
      .runtime();
  t.add(
       "TensorListScatterIntoExistingList(input_handle: variant, tensor: element_dtype, indices: int32) -> "
       "(output_handle: variant); element_dtype: type")
      .shape(scatter_into)
      .host({"indices"})
      .runtime();
  t.add(
       "TensorListConcat(input_handle: variant) -> (tensor: element_dtype, lengths: int64); element_dtype: "
       "type; "
       "element_shape: shape = unknown")
      .shape(concat)
      .host({"lengths"})
      .runtime();
  t.add(
       "TensorListConcatV2(input_handle: variant, element_shape: shape_type, leading_dims: int64) -> "
       "(tensor: "
       "element_dtype, lengths: int64); element_dtype: type; shape_type: {int32, int64}")
      .shape(concat)
      .host({"element_shape", "leading_dims", "lengths"})
      .runtime();
  t.add(
       "TensorListSplit(tensor: element_dtype, element_shape: shape_type, lengths: int64) -> (output_handle: "
       "variant); element_dtype: type; shape_type: {int32, int64}")
      .shape(split)
      .host({"element_shape", "lengths"})
      .runtime();
  t.add("TensorListConcatLists(input_a: variant, input_b: variant) -> (output: variant); element_dtype: type")
      .shape(same_scalars)
      .runtime();
  t.add("OptionalFromValue(components: Toutput_types) -> (optional: variant); Toutput_types: list(type) >= 1")
      .shape(scalar_output)
      .runtime();
  t.add("OptionalNone() -> (optional: variant)").shape(scalar_output).runtime();
  t.add("OptionalHasValue(optional: variant) -> (has_value: bool)")
      .shape(changed_list)
      .host({"has_value"})
      .runtime();
  t.add(
       "OptionalGetValue(optional: variant) -> (components: output_types); output_types: list(type) >= 1; "
       "output_shapes: list(shape) >= 1")
      .shape(from_optional)
      .runtime();
}

}  // namespace rw
