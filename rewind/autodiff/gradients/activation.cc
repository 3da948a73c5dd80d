// Gradients of activations and roots: ops of their own, whose gradients are here too.
#include "rewind/autodiff/rule.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/unary.h"

namespace rw {
namespace {

Tensor zeros_like(const Tensor& t) { return apply_one(RW_OP("ZerosLike"), {&t}); }

// dx = grad_op(grad, x): these gradient ops take the gradient first, and the input or the output.
void grad_of_input(const char* op, const char* grad_op) {
  register_gradient(op, needs_inputs({0}), [&row = find_op(grad_op)](GradContext& g) {
    g.set(0, apply_one(row, {&g.grad(), &g.input(0)}, g.attrs()));
  });
}
void grad_of_output(const char* op, const char* grad_op) {
  register_gradient(op, kNeedsOutputs, [&row = find_op(grad_op)](GradContext& g) {
    g.set(0, apply_one(row, {&g.grad(), &g.output(0)}));
  });
}
// dx = grad_op(y, grad).
void grad_after_output(const char* op, const char* grad_op) {
  register_gradient(op, kNeedsOutputs, [&row = find_op(grad_op)](GradContext& g) {
    g.set(0, apply_one(row, {&g.output(0), &g.grad()}));
  });
}

// op(gradient, features): linear in the gradient, so that op itself is its derivative there; `slope` gives
// the other.
template <class F>
void linear_in_first(const char* op, F slope) {
  register_gradient(op, kNeedsInputs, [slope, &row = find_op(op)](GradContext& g) {
    if (g.wants(0)) g.set(0, apply_one(row, {&g.grad(), &g.input(1)}, g.attrs()));
    if (g.wants(1)) g.set(1, slope(g.grad(), g.input(0), g.input(1)));
  });
}
// op(y, gradient), the same way round.
template <class F>
void linear_in_second(const char* op, F slope) {
  register_gradient(op, kNeedsInputs, [slope, &row = find_op(op)](GradContext& g) {
    if (g.wants(0)) g.set(0, slope(g.grad(), g.input(0), g.input(1)));
    if (g.wants(1)) g.set(1, apply_one(row, {&g.input(0), &g.grad()}));
  });
}

}  // namespace

void register_activation_gradients() {
  grad_of_output("Relu", "ReluGrad");
  grad_of_output("Relu6", "Relu6Grad");
  grad_of_output("Elu", "EluGrad");
  grad_of_output("Selu", "SeluGrad");
  grad_of_input("LeakyRelu", "LeakyReluGrad");
  grad_of_input("Softplus", "SoftplusGrad");
  grad_of_input("Softsign", "SoftsignGrad");
  grad_after_output("Sigmoid", "SigmoidGrad");
  grad_after_output("Tanh", "TanhGrad");
  grad_after_output("Sqrt", "SqrtGrad");
  grad_after_output("Rsqrt", "RsqrtGrad");
  grad_after_output("Reciprocal", "ReciprocalGrad");
  grad_after_output("Inv", "InvGrad");

  for (const char* op : {"ReluGrad", "Relu6Grad", "LeakyReluGrad"})
    linear_in_first(op, [](const Tensor&, const Tensor&, const Tensor& x) { return zeros_like(x); });
  for (const char* op : {"EluGrad", "SeluGrad"})
    linear_in_first(
        op, [](const Tensor& g, const Tensor& dy, const Tensor& y) { return where(y < 0.0, g * dy, 0.0); });
  linear_in_first("SoftplusGrad", [](const Tensor& g, const Tensor& dy, const Tensor& x) {
    return g * dy / (exp(-x) + 2.0 + exp(x));
  });
  linear_in_first("SoftsignGrad", [](const Tensor& g, const Tensor& dy, const Tensor& x) {
    return -2.0 * g * dy * sign(x) / pow(1.0 + abs(x), 3);
  });

  linear_in_second("SigmoidGrad", [](const Tensor& g, const Tensor& y, const Tensor& dy) {
    const Tensor both = g * dy;
    return both - 2.0 * both * y;
  });
  linear_in_second("TanhGrad",
                   [](const Tensor& g, const Tensor& y, const Tensor& dy) { return -2.0 * g * dy * y; });
  linear_in_second("RsqrtGrad", [](const Tensor& g, const Tensor& y, const Tensor& dy) {
    return -1.5 * g * dy * square(y);
  });
  for (const char* op : {"ReciprocalGrad", "InvGrad"})
    linear_in_second(op,
                     [](const Tensor& g, const Tensor& y, const Tensor& dy) { return -2.0 * g * dy * y; });
  // dy / (2 y)
  register_gradient("SqrtGrad", {.inputs = 1, .outputs = 1}, [](GradContext& g) {
    const Tensor quotient = g.grad() / g.input(0);
    if (g.wants(0)) g.set(0, -quotient * g.output(0));
    if (g.wants(1)) g.set(1, 0.5 * quotient);
  });
}

}  // namespace rw
