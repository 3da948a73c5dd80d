// Gradients of the elementwise ops of two and more inputs. Each side is summed back over the axes it was
// broadcast along.
#include "rewind/tensor/ops/binary.h"
#include "rewind/autodiff/rule.h"
#include "rewind/base/error.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/ops/unary.h"

namespace rw {
namespace {

// Sets the gradients of x and y, reduced to their shapes; `dx` and `dy` are computed only when wanted.
template <class X, class Y>
void set_both(GradContext& g, X dx, Y dy) {
  if (g.wants(0)) g.set(0, sum_to_input(dx(), g, 0));
  if (g.wants(1)) g.set(1, sum_to_input(dy(), g, 1));
}

using Partial = Tensor (*)(const Tensor& grad, const Tensor& x, const Tensor& y);

// Both partial derivatives, times the gradient, as functions of (grad, x, y).
void with_partials(const char* op, Partial dx, Partial dy) {
  register_gradient(op, kNeedsInputs, [dx, dy](GradContext& g) {
    set_both(
        g, [&] { return dx(g.grad(), g.input(0), g.input(1)); },
        [&] { return dy(g.grad(), g.input(0), g.input(1)); });
  });
}

Tensor not_zero(const Tensor& x) { return cast(not_equal(x, 0.0), x.dtype()); }

void register_arithmetic() {
  for (const char* op : {"AddV2", "Add"}) {
    register_gradient(op, kNeedsNothing, [](GradContext& g) {
      set_both(g, [&] { return g.grad(); }, [&] { return g.grad(); });
    });
  }
  register_gradient("Sub", kNeedsNothing,
                    [](GradContext& g) { set_both(g, [&] { return g.grad(); }, [&] { return -g.grad(); }); });
  register_gradient("Mul", kNeedsOtherInput, [](GradContext& g) {
    set_both(g, [&] { return g.grad() * g.input(1); }, [&] { return g.input(0) * g.grad(); });
  });
  for (const char* op : {"RealDiv", "Div"}) {
    with_partials(
        op, [](const Tensor& g, const Tensor&, const Tensor& y) { return g / y; },
        [](const Tensor& g, const Tensor& x, const Tensor& y) { return g * (-x / y / y); });
  }
  with_partials(
      "DivNoNan", [](const Tensor& g, const Tensor&, const Tensor& y) { return math::divide_no_nan(g, y); },
      [](const Tensor& g, const Tensor& x, const Tensor& y) {
        return g * math::divide_no_nan(math::divide_no_nan(-x, y), y);
      });
  with_partials(
      "MulNoNan", [](const Tensor& g, const Tensor&, const Tensor& y) { return math::multiply_no_nan(g, y); },
      [](const Tensor& g, const Tensor& x, const Tensor&) { return math::multiply_no_nan(x, g); });
  with_partials(
      "FloorMod", [](const Tensor& g, const Tensor&, const Tensor&) { return g; },
      [](const Tensor& g, const Tensor& x, const Tensor& y) { return g * -math::floordiv(x, y); });
  for (const char* op : {"TruncateMod", "Mod"}) {
    with_partials(
        op, [](const Tensor& g, const Tensor&, const Tensor&) { return g; },
        [](const Tensor& g, const Tensor& x, const Tensor& y) { return g * -truncatediv(x, y); });
  }
  for (const char* op : {"FloorDiv", "TruncateDiv"}) register_not_differentiable(op);
  with_partials(
      "SquaredDifference",
      [](const Tensor& g, const Tensor& x, const Tensor& y) { return 2.0 * g * (x - y); },
      [](const Tensor& g, const Tensor& x, const Tensor& y) { return -2.0 * g * (x - y); });
  // At a tie the first has it all.
  with_partials(
      "Maximum", [](const Tensor& g, const Tensor& x, const Tensor& y) { return where(x >= y, g, 0.0); },
      [](const Tensor& g, const Tensor& x, const Tensor& y) { return where(x >= y, 0.0, g); });
  with_partials(
      "Minimum", [](const Tensor& g, const Tensor& x, const Tensor& y) { return where(x <= y, g, 0.0); },
      [](const Tensor& g, const Tensor& x, const Tensor& y) { return where(x <= y, 0.0, g); });
  register_gradient("NextAfter", kNeedsNothing, [](GradContext& g) {
    set_both(g, [&] { return g.grad(); }, [&] { return apply_one(RW_OP("ZerosLike"), {&g.grad()}); });
  });
}

void register_powers() {
  // The logarithm counts as 0 where x is not positive.
  register_gradient("Pow", kNeedsAll, [](GradContext& g) {
    const Tensor& x = g.input(0);
    const Tensor& y = g.input(1);
    set_both(
        g, [&] { return g.grad() * y * pow(x, y - 1.0); },
        [&] {
          const Tensor positive = x > 0.0;
          return g.grad() * g.output(0) * where(positive, math::log(where(positive, x, 1.0)), 0.0);
        });
  });
  with_partials(
      "Atan2",  // (y, x)
      [](const Tensor& g, const Tensor& y, const Tensor& x) { return x * (g / (square(x) + square(y))); },
      [](const Tensor& g, const Tensor& y, const Tensor& x) { return -y * (g / (square(x) + square(y))); });
  with_partials(
      "Xlogy",
      [](const Tensor& g, const Tensor& x, const Tensor& y) { return math::xlogy(not_zero(x), y) * g; },
      [](const Tensor& g, const Tensor& x, const Tensor& y) { return math::xdivy(x, y) * g; });
  with_partials(
      "Xlog1py",
      [](const Tensor& g, const Tensor& x, const Tensor& y) { return math::xlog1py(not_zero(x), y) * g; },
      [](const Tensor& g, const Tensor& x, const Tensor& y) { return math::xdivy(x, y + 1.0) * g; });
  with_partials(
      "Xdivy",
      [](const Tensor& g, const Tensor& x, const Tensor& y) { return math::xdivy(not_zero(x), y) * g; },
      [](const Tensor& g, const Tensor& x, const Tensor& y) { return math::xdivy(-x, square(y)) * g; });
}

// x^(a - 1) e^-x / Gamma(a)
Tensor gamma_density(const Tensor& a, const Tensor& x) {
  return exp(-x + (a - 1.0) * math::log(x) - math::lgamma(a));
}

void register_special() {
  with_partials(
      "Igamma",
      [](const Tensor& g, const Tensor& a, const Tensor& x) {
        return g * apply_one(RW_OP("IgammaGradA"), {&a, &x});
      },
      [](const Tensor& g, const Tensor& a, const Tensor& x) { return g * gamma_density(a, x); });
  with_partials(
      "Igammac",
      [](const Tensor& g, const Tensor& a, const Tensor& x) {
        return -g * apply_one(RW_OP("IgammaGradA"), {&a, &x});
      },
      [](const Tensor& g, const Tensor& a, const Tensor& x) { return -g * gamma_density(a, x); });
  for (const char* op : {"IgammaGradA", "RandomGammaGrad"}) {
    register_gradient(op, kNeedsNothing, [](GradContext& g) {
      fail_unimplemented(g.op().tag,
                         "second derivatives of igamma in its first argument, and derivatives of "
                         "random_gamma's derivative, are not known here");
    });
  }
  // Orders have no derivative.
  register_gradient("Zeta", kNeedsInputs, [](GradContext& g) {
    const Tensor& x = g.input(0);
    if (g.wants(1)) g.set(1, sum_to_input(g.grad() * (-x * math::zeta(x + 1.0, g.input(1))), g, 1));
  });
  register_gradient("Polygamma", kNeedsInputs, [](GradContext& g) {
    if (g.wants(1)) g.set(1, sum_to_input(g.grad() * math::polygamma(g.input(0) + 1.0, g.input(1)), g, 1));
  });
  register_gradient("Betainc", kNeedsInputs, [](GradContext& g) {
    if (!g.wants(2)) return;
    const Tensor& a = g.input(0);
    const Tensor& b = g.input(1);
    const Tensor& x = g.input(2);
    const Tensor log_beta = math::lgamma(a) + math::lgamma(b) - math::lgamma(a + b);
    const Tensor density = exp(math::xlog1py(b - 1.0, -x) + math::xlogy(a - 1.0, x) - log_beta);
    g.set(2, sum_to_input(g.grad() * density, g, 2));
  });
}

void register_selection() {
  register_gradient("SelectV2", needs_inputs({0}), [](GradContext& g) {
    const Tensor& c = g.input(0);
    if (g.wants(1)) g.set(1, sum_to_input(where(c, g.grad(), 0.0), g, 1));
    if (g.wants(2)) g.set(2, sum_to_input(where(c, 0.0, g.grad()), g, 2));
  });
  register_gradient("Select", needs_inputs({0}), [](GradContext& g) {
    const Tensor& c = g.input(0);
    const Tensor zeros = apply_one(RW_OP("ZerosLike"), {&g.grad()});
    if (g.wants(1)) g.set(1, apply_one(RW_OP("Select"), {&c, &g.grad(), &zeros}));
    if (g.wants(2)) g.set(2, apply_one(RW_OP("Select"), {&c, &zeros, &g.grad()}));
  });
  register_gradient("ClipByValue", kNeedsInputs, [](GradContext& g) {
    const Tensor& x = g.input(0);
    const Tensor below = x < g.input(1);
    const Tensor above = x > g.input(2);
    if (g.wants(0)) g.set(0, where(below | above, 0.0, g.grad()));
    if (g.wants(1)) g.set(1, sum_to_input(where(below, g.grad(), 0.0), g, 1));
    if (g.wants(2)) g.set(2, sum_to_input(where(above, g.grad(), 0.0), g, 2));
  });
  for (const char* op : {"AddN", "AccumulateNV2"}) {
    register_gradient(op, kNeedsNothing, [](GradContext& g) {
      for (int i = 0; i < g.num_inputs(); ++i)
        if (g.wants(i)) g.set(i, g.raw_grad(0));
    });
  }
}

}  // namespace

void register_binary_gradients() {
  register_arithmetic();
  register_powers();
  register_special();
  register_selection();
}

}  // namespace rw
