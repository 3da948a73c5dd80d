// Gradients of the matrix products: products of the gradient with the other factor, transposed by attributes.
#include <algorithm>
#include <string>
#include <vector>

#include "rewind/autodiff/grad_ops.h"
#include "rewind/autodiff/rule.h"
#include "rewind/op/einsum.h"
#include "rewind/tensor/apply.h"

namespace rw {
namespace {

template <bool kBatch>
constexpr const char* kTurnA = kBatch ? "adj_x" : "transpose_a";
template <bool kBatch>
constexpr const char* kTurnB = kBatch ? "adj_y" : "transpose_b";

template <bool kBatch>
Tensor product(const Op& op, const Tensor& a, const Tensor& b, bool turn_a, bool turn_b) {
  if (!turn_a && !turn_b) return apply_one(op, {&a, &b});
  if (!turn_b) {
    static const Attrs attrs{{kTurnA<kBatch>, true}};
    return apply_one(op, {&a, &b}, attrs);
  }
  if (!turn_a) {
    static const Attrs attrs{{kTurnB<kBatch>, true}};
    return apply_one(op, {&a, &b}, attrs);
  }
  static const Attrs attrs{{kTurnA<kBatch>, true}, {kTurnB<kBatch>, true}};
  return apply_one(op, {&a, &b}, attrs);
}

template <bool kBatch>
void product_gradient(GradContext& g) {
  const Op& op = kBatch ? RW_OP("BatchMatMulV2") : RW_OP("MatMul");
  const bool ta = g.attr<bool>(kTurnA<kBatch>);
  const bool tb = g.attr<bool>(kTurnB<kBatch>);
  if (g.wants(0)) {
    const Tensor& b = g.input(1);
    const Tensor da =
        ta ? product<kBatch>(op, b, g.grad(), tb, true) : product<kBatch>(op, g.grad(), b, false, !tb);
    g.set(0, da.shape() == g.input_shape(0) ? da : sum_to_shape(da, g.input_shape(0)));
  }
  if (g.wants(1)) {
    const Tensor& a = g.input(0);
    const Tensor db =
        tb ? product<kBatch>(op, g.grad(), a, true, ta) : product<kBatch>(op, a, g.grad(), !ta, false);
    g.set(1, db.shape() == g.input_shape(1) ? db : sum_to_shape(db, g.input_shape(1)));
  }
}

Tensor einsum(const EinsumEquation& equation, const std::vector<Tensor>& inputs) {
  return apply(RW_OP("Einsum"), inputs, {{"equation", equation.to_string()}})[0];
}

Tensor shaped(const Tensor& x, const Shape& shape) { return x.shape() == shape ? x : reshape_to(x, shape); }

// The gradient of input i: the output's gradient contracted with the other input down to i's labels, spread
// over the labels that only i has (they were summed), and put on the diagonal where i repeats a label.
Tensor einsum_gradient(GradContext& g, const NamedEinsum& named, int i) {
  const auto& [equation, shapes] = named;
  const std::string& labels = equation.inputs[size_t(i)];
  const Shape& shape = shapes[size_t(i)];
  const bool pair = equation.inputs.size() == 2;
  const std::string others = equation.output + (pair ? equation.inputs[size_t(1 - i)] : "");
  std::string unique, reached;
  Shape unique_shape, thin_shape;
  for (size_t a = 0; a < labels.size(); ++a) {
    const char c = labels[a];
    if (unique.find(c) != std::string::npos) continue;
    const bool seen = others.find(c) != std::string::npos;
    unique += c;
    unique_shape.append(shape[int(a)]);
    thin_shape.append(seen ? shape[int(a)] : 1);
    if (seen) reached += c;
  }
  EinsumEquation step;
  step.inputs = {equation.output};
  step.output = reached;
  std::vector<Tensor> inputs{g.grad()};
  if (pair) {
    step.inputs.push_back(equation.inputs[size_t(1 - i)]);
    inputs.push_back(shaped(g.input(1 - i), shapes[size_t(1 - i)]));
  }
  Tensor result = pair || reached != equation.output ? einsum(step, inputs) : g.grad();
  if (reached != unique) {
    const Tensor dims = constant(unique_shape.begin(), Shape{unique_shape.rank()});
    const Tensor thin = reshape_to(result, thin_shape);
    result = apply_one(RW_OP("BroadcastTo"), {&thin, &dims});
  }
  if (unique != labels) {
    EinsumEquation spread;
    spread.inputs = {unique};
    spread.output = labels;
    result = einsum(spread, {result});
  }
  return shaped(result, g.input_shape(i));
}

void einsum_rule(GradContext& g) {
  std::vector<const Shape*> shapes;
  for (int i = 0; i < g.num_inputs(); ++i) shapes.push_back(&g.input_shape(i));
  const NamedEinsum named = name_axes(EinsumEquation::parse(g.attr<std::string>("equation")), shapes);
  for (int i = 0; i < g.num_inputs(); ++i)
    if (g.wants(i)) g.set(i, einsum_gradient(g, named, i));
}

}  // namespace

void register_matmul_gradients() {
  register_gradient("MatMul", kNeedsInputs, product_gradient<false>);
  register_gradient("BatchMatMul", kNeedsInputs, product_gradient<true>);
  register_gradient("BatchMatMulV2", kNeedsInputs, product_gradient<true>);
  register_gradient("BatchMatMulV3", kNeedsInputs, product_gradient<true>);
  register_gradient("Einsum", kNeedsInputs, einsum_rule);
}

}  // namespace rw
