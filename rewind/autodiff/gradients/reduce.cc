// Gradients of reductions and scans.
#include <algorithm>
#include <vector>

#include "rewind/autodiff/grad_ops.h"
#include "rewind/autodiff/rule.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/ops/reduce.h"

namespace rw {
namespace {

Tensor op1(const Op& op, const Tensor& x) { return apply_one(op, {&x}); }
Tensor op2(const Op& op, const Tensor& x, const Tensor& y) { return apply_one(op, {&x, &y}); }

// Which axes of input 0 were reduced.
std::vector<bool> reduced_axes(const GradContext& g) {
  const int rank = g.input_shape(0).rank();
  std::vector<bool> reduced(size_t(rank), false);
  const Tensor& axes = g.input(1);
  for (int64_t i = 0; i < axes.size(); ++i) {
    const int64_t a =
        axes.dtype() == DType::kInt64 ? axes.data<int64_t>()[size_t(i)] : axes.data<int32_t>()[size_t(i)];
    reduced[size_t(a < 0 ? a + rank : a)] = true;
  }
  return reduced;
}

// A tensor of the output's shape with the reduced axes back as ones: it broadcasts against input 0.
Tensor with_axes(const GradContext& g, const Tensor& t) {
  if (g.attr<bool>("keep_dims")) return t;
  Shape kept = g.input_shape(0);
  const std::vector<bool> reduced = reduced_axes(g);
  for (int a = 0; a < kept.rank(); ++a)
    if (reduced[size_t(a)]) kept.set(a, 1);
  return reshape_to(t, kept);
}

Tensor broadcast_to(const Tensor& t, const Shape& shape) {
  if (t.shape() == shape) return t;
  const Tensor dims = constant(shape.begin(), Shape{shape.rank()});
  return apply_one(RW_OP("BroadcastTo"), {&t, &dims});
}

void sum_gradient(GradContext& g) {
  if (g.wants(0)) g.set(0, broadcast_to(with_axes(g, g.grad()), g.input_shape(0)));
}

void mean_gradient(GradContext& g) {
  if (!g.wants(0)) return;
  const int64_t outputs = std::max<int64_t>(1, g.output_shape(0).num_elements());
  const int64_t count = std::max<int64_t>(1, g.input_shape(0).num_elements() / outputs);
  const Tensor share = op2(RW_OP("RealDiv"), g.grad(), scalar_tensor(double(count), g.input_dtype(0)));
  g.set(0, broadcast_to(with_axes(g, share), g.input_shape(0)));
}

// Equal winners share the gradient.
void extreme_gradient(GradContext& g) {
  if (!g.wants(0)) return;
  const Tensor best = with_axes(g, g.output(0));
  const Tensor equal = op2(RW_OP("Equal"), best, g.input(0));
  const Tensor winners = apply_one(RW_OP("Cast"), {&equal}, {{"DstT", g.input_dtype(0)}});
  const Tensor count = apply_one(RW_OP("Sum"), {&winners, &g.input(1)}, {{"keep_dims", true}});
  const Tensor share = op2(RW_OP("RealDiv"), winners, count);
  g.set(0, op2(RW_OP("Mul"), share, with_axes(g, g.grad())));
}

// The product of all others, from the products before and after each element: right also where some are zero.
void product_gradient(GradContext& g) {
  if (!g.wants(0)) return;
  const Shape& shape = g.input_shape(0);
  const std::vector<bool> reduced = reduced_axes(g);
  std::vector<int32_t> order;
  int64_t kept = 1;
  int64_t inside = 1;
  for (int a = 0; a < shape.rank(); ++a) {
    if (reduced[size_t(a)]) continue;
    order.push_back(a);
    kept *= shape[a];
  }
  for (int a = 0; a < shape.rank(); ++a) {
    if (!reduced[size_t(a)]) continue;
    order.push_back(a);
    inside *= shape[a];
  }
  std::vector<int32_t> back(order.size());
  std::vector<int64_t> moved;
  for (size_t i = 0; i < order.size(); ++i) {
    back[size_t(order[i])] = int32_t(i);
    moved.push_back(shape[order[i]]);
  }
  const bool still = std::is_sorted(order.begin(), order.end());
  const Tensor rows = reshape_to(still ? g.input(0) : op2(RW_OP("Transpose"), g.input(0), constant(order)),
                                 Shape{kept, inside});
  const Tensor before = math::cumprod(rows, 1, {.exclusive = true});
  const Tensor after = math::cumprod(rows, 1, {.exclusive = true, .reverse = true});
  Tensor others = reshape_to(op2(RW_OP("Mul"), before, after), Shape(moved));
  if (!still) others = op2(RW_OP("Transpose"), others, constant(back));
  g.set(0, op2(RW_OP("Mul"), with_axes(g, g.grad()), others));
}

void norm_gradient(GradContext& g) {
  if (!g.wants(0)) return;
  const Tensor ratio = op2(RW_OP("RealDiv"), g.output(0), g.grad());
  g.set(0, op2(RW_OP("RealDiv"), g.input(0), with_axes(g, ratio)));
}

Attrs scan_attrs(const GradContext& g) {
  return {{"exclusive", g.attr<bool>("exclusive")}, {"reverse", !g.attr<bool>("reverse")}};
}

void cumsum_gradient(GradContext& g) {
  if (g.wants(0)) g.set(0, apply_one(RW_OP("Cumsum"), {&g.grad(), &g.input(1)}, scan_attrs(g)));
}

void cumprod_gradient(GradContext& g) {
  if (!g.wants(0)) return;
  const Tensor products = apply_one(RW_OP("Cumprod"), {&g.input(0), &g.input(1)}, g.attrs());
  const Tensor weighted = op2(RW_OP("Mul"), products, g.grad());
  const Tensor sums = apply_one(RW_OP("Cumsum"), {&weighted, &g.input(1)}, scan_attrs(g));
  g.set(0, op2(RW_OP("DivNoNan"), sums, g.input(0)));
}

// In the logarithm, where it does not overflow: one sum for the positive gradients, one for the negative
// ones.
void cumulative_logsumexp_gradient(GradContext& g) {
  if (!g.wants(0)) return;
  const Tensor& dy = g.grad();
  const Tensor zero = zeros_of(dy);
  const double lowest = g.input_dtype(0) == DType::kFloat16    ? -65504.0
                        : g.input_dtype(0) == DType::kFloat64  ? -0x1.fffffffffffffp1023
                        : g.input_dtype(0) == DType::kBfloat16 ? -0x1.fep127
                                                               : -0x1.fffffep127;
  const Tensor least = scalar_tensor(lowest, g.input_dtype(0));
  auto part = [&](const Op& side, const Tensor& size) {
    const Tensor log = op1(RW_OP("Log"), size);
    const Tensor on = op2(side, dy, zero);
    const Tensor chosen = apply_one(RW_OP("SelectV2"), {&on, &log, &least});
    const Tensor ratio = op2(RW_OP("Sub"), chosen, g.output(0));
    const Tensor sums = apply_one(RW_OP("CumulativeLogsumexp"), {&ratio, &g.input(1)}, scan_attrs(g));
    return op1(RW_OP("Exp"), op2(RW_OP("AddV2"), sums, g.input(0)));
  };
  const Tensor positive = part(RW_OP("Greater"), dy);
  const Tensor negative = part(RW_OP("Less"), op1(RW_OP("Neg"), dy));
  g.set(0, op2(RW_OP("Sub"), positive, negative));
}

}  // namespace

void register_reduce_gradients() {
  register_gradient("Sum", needs_inputs({1}), sum_gradient);
  register_gradient("Mean", needs_inputs({1}), mean_gradient);
  register_gradient("Prod", kNeedsInputs, product_gradient);
  register_gradient("Max", kNeedsAll, extreme_gradient);
  register_gradient("Min", kNeedsAll, extreme_gradient);
  register_gradient("EuclideanNorm", kNeedsAll, norm_gradient);
  register_gradient("Cumsum", needs_inputs({1}), cumsum_gradient);
  register_gradient("Cumprod", kNeedsInputs, cumprod_gradient);
  register_gradient("CumulativeLogsumexp", kNeedsAll, cumulative_logsumexp_gradient);
  for (const char* op : {"Any", "All", "ArgMax", "ArgMin"}) register_not_differentiable(op);
}

}  // namespace rw
