// Gradients of the unary elementwise ops.
#include <cmath>
#include <numbers>

#include "rewind/autodiff/rule.h"
#include "rewind/base/error.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/unary.h"

namespace rw {

void register_activation_gradients();
void register_bessel_gradients();

namespace {

// op(x) with dx = rule(grad, x).
template <class F>
void of_input(const char* op, F rule) {
  register_gradient(op, needs_inputs({0}), [rule](GradContext& g) { g.set(0, rule(g.grad(), g.input(0))); });
}
// y = op(x) with dx = rule(grad, y).
template <class F>
void of_output(const char* op, F rule) {
  register_gradient(op, kNeedsOutputs, [rule](GradContext& g) { g.set(0, rule(g.grad(), g.output(0))); });
}

void register_exponentials() {
  of_output("Exp", [](const Tensor& g, const Tensor& y) { return g * y; });
  of_input("Expm1", [](const Tensor& g, const Tensor& x) { return g * exp(x); });
  of_input("Log", [](const Tensor& g, const Tensor& x) { return g * math::reciprocal(x); });
  of_input("Log1p", [](const Tensor& g, const Tensor& x) { return g * math::reciprocal(1 + x); });
  of_input("Sinh", [](const Tensor& g, const Tensor& x) { return g * cosh(x); });
  of_input("Cosh", [](const Tensor& g, const Tensor& x) { return g * sinh(x); });
  of_output("Asinh", [](const Tensor& g, const Tensor& y) { return g / cosh(y); });
  of_output("Acosh", [](const Tensor& g, const Tensor& y) { return g / sinh(y); });
  of_input("Atanh", [](const Tensor& g, const Tensor& x) { return g * math::reciprocal(1 - square(x)); });
}

void register_trigonometry() {
  of_input("Sin", [](const Tensor& g, const Tensor& x) { return g * cos(x); });
  of_input("Cos", [](const Tensor& g, const Tensor& x) { return -g * sin(x); });
  of_input("Tan", [](const Tensor& g, const Tensor& x) { return square(math::reciprocal(cos(x))) * g; });
  of_input("Asin",
           [](const Tensor& g, const Tensor& x) { return g * math::reciprocal(sqrt(1 - square(x))); });
  of_input("Acos",
           [](const Tensor& g, const Tensor& x) { return -g * math::reciprocal(sqrt(1 - square(x))); });
  of_input("Atan", [](const Tensor& g, const Tensor& x) { return g * math::reciprocal(1 + square(x)); });
}

constexpr double kTwoOverRootPi = 2 * std::numbers::inv_sqrtpi;

void register_special_functions() {
  of_input("Erf", [](const Tensor& g, const Tensor& x) { return g * kTwoOverRootPi * exp(-square(x)); });
  of_input("Erfc", [](const Tensor& g, const Tensor& x) { return g * -kTwoOverRootPi * exp(-square(x)); });
  of_output("Erfinv",
            [](const Tensor& g, const Tensor& y) { return g * (1 / kTwoOverRootPi) * exp(square(y)); });
  of_output("Ndtri", [](const Tensor& g, const Tensor& y) {
    return g * std::sqrt(2 * std::numbers::pi) * exp(square(y) / 2.0);
  });
  of_input("Lgamma", [](const Tensor& g, const Tensor& x) { return g * math::digamma(x); });
  of_input("Digamma", [](const Tensor& g, const Tensor& x) { return g * math::polygamma(1.0, x); });
}

void register_conversions() {
  register_gradient("Cast", kNeedsNothing, [](GradContext& g) {
    if (is_differentiable(g.input_dtype(0)) && is_differentiable(g.output_dtype(0)))
      g.set(0, cast(g.grad(), g.input_dtype(0)));
  });
  for (const char* op : {"Identity", "Snapshot", "DeepCopy", "PlaceholderWithDefault"})
    register_gradient(op, kNeedsNothing, [](GradContext& g) { g.set(0, g.raw_grad(0)); });
  register_gradient("IdentityN", kNeedsNothing, [](GradContext& g) {
    for (int i = 0; i < g.num_inputs(); ++i)
      if (g.wants(i)) g.set(i, g.raw_grad(i));
  });
  register_gradient("PreventGradient", kNeedsNothing, [](GradContext& g) {
    fail_invalid("prevent_gradient",
                 "a gradient was asked for where the graph forbids it: " + g.attr<std::string>("message"));
  });
  for (const char* op : {"StopGradient", "Bitcast"}) register_not_differentiable(op);
}

}  // namespace

void register_unary_gradients() {
  of_input("Abs", [](const Tensor& g, const Tensor& x) { return g * sign(x); });
  register_gradient("Neg", kNeedsNothing, [](GradContext& g) { g.set(0, -g.grad()); });
  of_input("Square", [](const Tensor& g, const Tensor& x) { return g * (2.0 * x); });
  register_gradient("Sign", kNeedsNothing,
                    [](GradContext& g) { g.set(0, apply_one(RW_OP("ZerosLike"), {&g.grad()})); });
  for (const char* op : {"Floor", "Ceil", "Rint", "Round"}) register_not_differentiable(op);
  register_exponentials();
  register_trigonometry();
  register_special_functions();
  register_conversions();
  register_activation_gradients();
  register_bessel_gradients();
}

}  // namespace rw
