// Gradients of the matrix products: products of the gradient with the other factor, transposed by attributes.
#include <algorithm>
#include <string>
#include <vector>

#include "rewind/autodiff/grad_ops.h"
#include "rewind/autodiff/rule.h"
#include "rewind/base/error.h"
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
    static const auto& attrs = *new Attrs{{kTurnA<kBatch>, true}};
    return apply_one(op, {&a, &b}, attrs);
  }
  if (!turn_a) {
    static const auto& attrs = *new Attrs{{kTurnB<kBatch>, true}};
    return apply_one(op, {&a, &b}, attrs);
  }
  static const auto& attrs = *new Attrs{{kTurnA<kBatch>, true}, {kTurnB<kBatch>, true}};
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
    g.set(0, kBatch ? sum_to_input(da, g, 0) : da);
  }
  if (g.wants(1)) {
    const Tensor& a = g.input(0);
    const Tensor db =
        tb ? product<kBatch>(op, g.grad(), a, true, ta) : product<kBatch>(op, a, g.grad(), !ta, false);
    g.set(1, kBatch ? sum_to_input(db, g, 1) : db);
  }
}

Tensor einsum(const EinsumEquation& equation, const std::vector<Tensor>& inputs) {
  return apply(RW_OP("Einsum"), inputs, {{"equation", equation.to_string()}})[0];
}

Shape of_rank(const Shape& shape, size_t rank) {
  return shape.has_rank() ? shape : Shape::unknown_of_rank(int(rank));
}

// One input's axes in the named equation. An axis under an ellipsis that the other input may stretch, while a
// trace does not know, counts as stretched: with the output's size.
struct EinsumInput {
  Sizes sizes;             // of the axes that the equation names
  bool stretched = false;  // some are the output's, not the input's
};

EinsumInput einsum_input(const GradContext& g, const NamedEinsum& named, const EinsumEquation& written,
                         int i) {
  EinsumInput in;
  const std::string& labels = named.equation.inputs[size_t(i)];
  const bool pair = named.equation.inputs.size() == 2;
  // An input of unknown rank has no ellipsis: the equation says its rank.
  const Sizes all =
      sizes_of(of_rank(g.input_shape(i), labels.size()), [&] { return g.input_shape_tensor(i); });
  for (size_t k = 0; k < labels.size(); ++k) {
    Size size = all[size_t(named.axes[size_t(i)][k])];
    if (pair && !written.uses(labels[k])) {
      const size_t other = named.equation.inputs[size_t(1 - i)].find(labels[k]);
      const size_t out = named.equation.output.find(labels[k]);
      const bool shared = other != std::string::npos;
      if (shared && !(size.known() && named.shapes[size_t(1 - i)][int(other)] >= 0)) {
        const Shape shape = of_rank(g.output_shape(0), named.equation.output.size());
        size = sizes_of(shape, [&] { return g.output_shape_tensor(0); })[out];
        in.stretched = true;
      }
    }
    in.sizes.push_back(size);
  }
  return in;
}

// The input of the equation, from a tensor of input i's shape.
Tensor named_input(const EinsumInput& in, const NamedEinsum& named, const Tensor& x, int i) {
  if (!in.stretched) return reshape_sizes(x, in.sizes);
  Sizes own;
  const Sizes all = sizes_of(x);
  for (const int a : named.axes[size_t(i)]) own.push_back(all[size_t(a)]);
  return broadcast_sizes(reshape_sizes(x, own), in.sizes);
}

// A gradient of the named axes, brought to input i's shape.
Tensor to_input(const EinsumInput& in, const NamedEinsum& named, const Tensor& result, const GradContext& g,
                int i) {
  const Shape& shape = g.input_shape(i);
  if (shape.fully_known() && result.shape() == shape) return result;
  if (!in.stretched) return reshape_to_input(result, g, i);
  Sizes wide(size_t(shape.rank()), 1);
  for (size_t k = 0; k < in.sizes.size(); ++k) wide[size_t(named.axes[size_t(i)][k])] = in.sizes[k];
  return sum_to_input(reshape_sizes(result, wide), g, i);
}

// The gradient of input i: the output's gradient contracted with the other input down to i's labels, spread
// over the labels that only i has (they were summed), and put on the diagonal where i repeats a label.
Tensor einsum_gradient(GradContext& g, const NamedEinsum& named, const EinsumEquation& written, int i) {
  const EinsumEquation& equation = named.equation;
  const std::string& labels = equation.inputs[size_t(i)];
  const EinsumInput in = einsum_input(g, named, written, i);
  const bool pair = equation.inputs.size() == 2;
  const std::string others = equation.output + (pair ? equation.inputs[size_t(1 - i)] : "");
  std::string unique, reached;
  Sizes unique_sizes, thin_sizes;
  for (size_t a = 0; a < labels.size(); ++a) {
    const char c = labels[a];
    if (unique.find(c) != std::string::npos) continue;
    const bool seen = others.find(c) != std::string::npos;
    unique += c;
    unique_sizes.push_back(in.sizes[a]);
    thin_sizes.push_back(seen ? in.sizes[a] : Size(1));
    if (seen) reached += c;
  }
  EinsumEquation step;
  step.inputs = {equation.output};
  step.output = reached;
  std::vector<Tensor> inputs{g.grad()};
  if (pair) {
    step.inputs.push_back(equation.inputs[size_t(1 - i)]);
    inputs.push_back(named_input(einsum_input(g, named, written, 1 - i), named, g.input(1 - i), 1 - i));
  }
  Tensor result = pair || reached != equation.output ? einsum(step, inputs) : g.grad();
  if (reached != unique) result = broadcast_sizes(reshape_sizes(result, thin_sizes), unique_sizes);
  if (unique != labels) {
    EinsumEquation spread;
    spread.inputs = {unique};
    spread.output = labels;
    result = einsum(spread, {result});
  }
  return to_input(in, named, result, g, i);
}

void einsum_rule(GradContext& g) {
  const EinsumEquation written = EinsumEquation::parse(g.attr<std::string>("equation"));
  std::vector<Shape> ranked;
  for (int i = 0; i < g.num_inputs(); ++i) {
    const std::string& part = written.inputs[size_t(i)];
    const bool told = !g.input_shape(i).has_rank() && part.find('.') == std::string::npos;
    ranked.push_back(told ? Shape::unknown_of_rank(int(part.size())) : g.input_shape(i));
    if (!ranked.back().has_rank())
      fail_unimplemented("einsum", "the gradient needs the ranks of inputs with an ellipsis");
  }
  std::vector<const Shape*> shapes;
  for (const Shape& s : ranked) shapes.push_back(&s);
  const NamedEinsum named = name_axes(written, shapes);
  for (int i = 0; i < g.num_inputs(); ++i)
    if (g.wants(i)) g.set(i, einsum_gradient(g, named, written, i));
}

}  // namespace

void register_matmul_gradients() {
  register_gradient("MatMul", kNeedsOtherInput, product_gradient<false>);
  register_gradient("BatchMatMul", kNeedsOtherInput, product_gradient<true>);
  register_gradient("BatchMatMulV2", kNeedsOtherInput, product_gradient<true>);
  register_gradient("BatchMatMulV3", kNeedsOtherInput, product_gradient<true>);
  register_gradient("Einsum", kNeedsInputs, einsum_rule);
}

}  // namespace rw
