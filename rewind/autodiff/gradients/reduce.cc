// Gradients of reductions and scans.
#include <algorithm>
#include <vector>

#include "rewind/autodiff/grad_ops.h"
#include "rewind/autodiff/rule.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/op_calls.h"
#include "rewind/tensor/ops/reduce.h"

namespace rw {
namespace {

// Whether it is known now which axes of input 0 were reduced.
bool axes_known(const GradContext& g) { return g.input_shape(0).has_rank() && value_known(g.input(1)); }

std::vector<bool> reduced_axes(const GradContext& g) {
  const int rank = g.input_shape(0).rank();
  std::vector<bool> reduced(size_t(rank), false);
  for (const int64_t a : known_ints(g.input(1))) reduced[size_t(a < 0 ? a + rank : a)] = true;
  return reduced;
}

// The axes as a vector of int32 that are not negative, when only the run knows them; `dims` is input 0's
// shape.
Tensor asked_axes(const GradContext& g, const Tensor& dims) {
  const Tensor axes = reshape_to(cast_ints(g.input(1), DType::kInt32), {-1});
  const Tensor rank = apply_one(RW_OP("Size"), {&dims});
  return op2(RW_OP("FloorMod"), axes, rank);
}

// A tensor of the output's shape with the reduced axes back as ones: it broadcasts against input 0.
Tensor with_axes(const GradContext& g, const Tensor& t) {
  if (g.attr<bool>("keep_dims")) return t;
  if (!axes_known(g)) {
    const Tensor dims = input_dims(g, 0, DType::kInt32);
    const Tensor all = numbers_below(element_count(dims), DType::kInt32);
    const Tensor axes = asked_axes(g, dims);
    const Tensor ones = op1(RW_OP("OnesLike"), axes);
    const Tensor kept = apply_one(RW_OP("DynamicStitch"), {&all, &axes, &dims, &ones});
    return reshape_dims(t, kept);
  }
  Sizes kept = input_sizes(g, 0);
  const std::vector<bool> reduced = reduced_axes(g);
  for (size_t a = 0; a < kept.size(); ++a)
    if (reduced[a]) kept[a] = 1;
  return reshape_sizes(t, kept);
}

Tensor broadcast_to_input(const Tensor& t, const GradContext& g) {
  if (g.input_shape(0).fully_known() && t.shape() == g.input_shape(0)) return t;
  const Tensor dims = input_dims(g, 0);
  return apply_one(RW_OP("BroadcastTo"), {&t, &dims});
}

void sum_gradient(GradContext& g) {
  if (g.wants(0)) g.set(0, broadcast_to_input(with_axes(g, g.grad()), g));
}

// How many elements went into each of the output's; 1 where there are none.
Tensor elements_each(const GradContext& g) {
  const int64_t in = g.input_shape(0).num_elements();
  const int64_t out = g.output_shape(0).num_elements();
  if (in >= 0 && out >= 0)
    return scalar_tensor(double(std::max<int64_t>(1, in / std::max<int64_t>(1, out))), g.input_dtype(0));
  const Tensor one = constant(int64_t{1});
  auto count = [&](const Tensor& dims) {
    const Tensor axis = constant(0);
    return op2(RW_OP("Maximum"), op2(RW_OP("Prod"), dims, axis), one);
  };
  const Tensor each = op2(RW_OP("FloorDiv"), count(input_dims(g, 0)), count(output_dims(g, 0)));
  const Tensor some = op2(RW_OP("Maximum"), each, one);
  return apply_one(RW_OP("Cast"), {&some}, {{"DstT", g.input_dtype(0)}});
}

void mean_gradient(GradContext& g) {
  if (!g.wants(0)) return;
  const Tensor share = op2(RW_OP("RealDiv"), g.grad(), elements_each(g));
  g.set(0, broadcast_to_input(with_axes(g, share), g));
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

// For every element of a row the product of all others, from the products before and after it: right also
// where some are zero.
Tensor products_of_others(const Tensor& rows) {
  const Tensor before = math::cumprod(rows, 1, {.exclusive = true});
  const Tensor after = math::cumprod(rows, 1, {.exclusive = true, .reverse = true});
  return op2(RW_OP("Mul"), before, after);
}

// The reduced axes are brought to the end and merged, so that each row is one product.
void prod_gradient(GradContext& g) {
  if (!g.wants(0)) return;
  Tensor others;
  if (axes_known(g)) {
    const Sizes sizes = input_sizes(g, 0);
    const std::vector<bool> reduced = reduced_axes(g);
    std::vector<int32_t> order;
    Size count[2] = {1, 1};  // of rows, and of elements in each
    for (const bool last : {false, true})
      for (size_t a = 0; a < sizes.size(); ++a)
        if (reduced[a] == last) {
          order.push_back(int32_t(a));
          count[last] = count[last] * sizes[a];
        }
    std::vector<int32_t> back(order.size());
    Sizes moved;
    for (size_t i = 0; i < order.size(); ++i) {
      back[size_t(order[i])] = int32_t(i);
      moved.push_back(sizes[size_t(order[i])]);
    }
    const bool still = std::is_sorted(order.begin(), order.end());
    const Tensor x = still ? g.input(0) : op2(RW_OP("Transpose"), g.input(0), constant(order));
    others = reshape_sizes(products_of_others(reshape_sizes(x, {count[0], count[1]})), moved);
    if (!still) others = op2(RW_OP("Transpose"), others, constant(back));
  } else {
    const Tensor dims = input_dims(g, 0, DType::kInt32);
    const Tensor all = numbers_below(element_count(dims), DType::kInt32);
    const Tensor axes = asked_axes(g, dims);
    const Tensor kept = apply(RW_OP("ListDiff"), {&all, &axes})[0];
    const Tensor zero = constant(0);
    const Tensor order = concat_rows(kept, axes);
    auto count = [&](const Tensor& which) {
      return Size(op2(RW_OP("Prod"), apply_one(RW_OP("GatherV2"), {&dims, &which, &zero}), zero));
    };
    const Tensor moved = op2(RW_OP("Transpose"), g.input(0), order);
    const Tensor rows = reshape_sizes(moved, {count(kept), count(axes)});
    const Tensor back = op1(RW_OP("InvertPermutation"), order);
    others = op2(RW_OP("Transpose"), reshape_dims(products_of_others(rows), dims_tensor(moved)), back);
  }
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
  register_gradient("Prod", kNeedsInputs, prod_gradient);
  register_gradient("Max", kNeedsAll, extreme_gradient);
  register_gradient("Min", kNeedsAll, extreme_gradient);
  register_gradient("EuclideanNorm", kNeedsAll, norm_gradient);
  register_gradient("Cumsum", needs_inputs({1}), cumsum_gradient);
  register_gradient("Cumprod", kNeedsInputs, cumprod_gradient);
  register_gradient("CumulativeLogsumexp", kNeedsAll, cumulative_logsumexp_gradient);
  for (const char* op : {"Any", "All", "ArgMax", "ArgMin"}) register_not_differentiable(op);
}

}  // namespace rw
