#include "rewind/autodiff/rule.h"

#include <ostream>

#include "rewind/autodiff/grad_ops.h"
#include "rewind/base/error.h"
#include "rewind/op/families.h"
#include "rewind/op/rule_list.h"
#include "rewind/op/table.h"
#include "rewind/tensor/apply.h"

namespace rw {

#define RW_DECLARE(family)              \
  void register_##family##_gradients(); \
  void register_##family##_batching();
RW_OP_FAMILIES(RW_DECLARE)
#undef RW_DECLARE

void register_autodiff_rules() {
#define RW_REGISTER(family)        \
  register_##family##_gradients(); \
  register_##family##_batching();
  RW_OP_FAMILIES(RW_REGISTER)
#undef RW_REGISTER
}

void register_gradient(std::string_view op, Needs needs, GradientFn fn) {
  set_rule(find_op(op), RuleSlot::kGradient, GradientRule{needs, std::move(fn)});
}

void register_not_differentiable(std::string_view op) { register_gradient(op, kNeedsNothing, {}); }

const GradientRule* find_gradient(const Op& op) {
  return static_cast<const GradientRule*>(op.rule(RuleSlot::kGradient));
}

Tensor sum_to_shape(const Tensor& grad, const Shape& shape) {
  const Shape& from = grad.shape();
  if (from == shape) return grad;
  const int extra = from.rank() - shape.rank();
  std::vector<int64_t> axes;
  for (int i = 0; i < from.rank(); ++i)
    if (i < extra || (shape[i - extra] == 1 && from[i] != 1)) axes.push_back(i);
  Tensor sum = axes.empty() ? grad : reduce_sum_axes(grad, axes);
  return sum.shape() == shape ? sum : reshape_to(sum, shape);
}

Tensor sum_to_input(const Tensor& grad, const GradContext& g, int i) {
  const Shape& from = grad.shape();
  const Shape& to = g.input_shape(i);
  if (from.fully_known() && to.fully_known()) return sum_to_shape(grad, to);
  if (from.has_rank() && to.has_rank()) {
    // An axis that is 1 before the broadcast is summed; of an unknown one only the run can tell.
    const int extra = from.rank() - to.rank();
    std::vector<int64_t> axes;
    bool told = true;
    for (int k = 0; k < from.rank(); ++k) {
      if (k < extra || (to[k - extra] == 1 && from[k] != 1)) axes.push_back(k);
      else if (to[k - extra] < 0 && from[k] != 1) told = false;
    }
    if (told) {
      const Tensor sum = axes.empty() ? grad : reduce_sum_axes(grad, axes);
      return sum.rank() == to.rank() ? sum : reshape_dims(sum, g.input_shape_tensor(i));
    }
  }
  const Tensor dims = g.input_shape_tensor(i);
  const Tensor wide = shape_as_tensor(from, grad);
  const Tensor axes = rw::apply(RW_OP("BroadcastGradientArgs"), {&dims, &wide})[0];
  const Tensor sum = apply_one(RW_OP("Sum"), {&grad, &axes});
  return reshape_dims(sum, dims);
}

Tensor zeros_like_input(const GradContext& g, int i) {
  if (g.input_shape(i).fully_known()) return filled(g.input_dtype(i), g.input_shape(i), 0);
  return filled_dims(g.input_dtype(i), g.input_shape_tensor(i), 0);
}

Tensor reshape_to_input(const Tensor& t, const GradContext& g, int i) {
  const Shape& shape = g.input_shape(i);
  return shape.fully_known() ? reshape_to(t, shape) : reshape_dims(t, g.input_shape_tensor(i));
}

Tensor input_dims(const GradContext& g, int i, DType dtype) {
  const Shape& s = g.input_shape(i);
  return s.fully_known() ? dims_tensor(s, dtype) : cast_ints(g.input_shape_tensor(i), dtype);
}
Tensor output_dims(const GradContext& g, int i, DType dtype) {
  const Shape& s = g.output_shape(i);
  return s.fully_known() ? dims_tensor(s, dtype) : cast_ints(g.output_shape_tensor(i), dtype);
}
Sizes input_sizes(const GradContext& g, int i) {
  return sizes_of(g.input_shape(i), [&] { return g.input_shape_tensor(i); });
}
Sizes output_sizes(const GradContext& g, int i) {
  return sizes_of(g.output_shape(i), [&] { return g.output_shape_tensor(i); });
}

Gradient add_gradients(Gradient a, Gradient b) {
  if (a.none()) return b;
  if (b.none()) return a;
  if (a.slices() && b.slices()) {
    return IndexedSlices{concat_rows(a.slices()->values, b.slices()->values),
                         concat_rows(a.slices()->indices, b.slices()->indices), a.slices()->dense_shape};
  }
  return add_tensors(a.tensor(), b.tensor());
}

Tensor detail::summed(const IndexedSlices& slices) {
  return scatter_rows(slices.values, slices.indices, slices.dense_shape);
}

std::ostream& operator<<(std::ostream& out, const Gradient& gradient) {
  if (gradient.none()) return out << "None";
  return out << gradient.tensor();
}

}  // namespace rw
