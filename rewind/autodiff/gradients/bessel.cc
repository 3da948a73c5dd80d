// Gradients of the Bessel functions and of functions defined by integrals.
#include <numbers>

#include "rewind/autodiff/rule.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/unary.h"

namespace rw {
namespace {

using Slope = Tensor (*)(const Tensor& x, const Tensor& y);

// y = op(x) with dy/dx = slope(x, y).
void with_slope(const char* op, Slope slope) {
  register_gradient(op, kNeedsAll,
                    [slope](GradContext& g) { g.set(0, g.grad() * slope(g.input(0), g.output(0))); });
}

double epsilon_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat16: return 0x1p-10;
    case DType::kBfloat16: return 0x1p-7;
    case DType::kFloat32: return 0x1p-23;
    default: return 0x1p-52;
  }
}

}  // namespace

void register_bessel_gradients() {
  using namespace math;
  using namespace math::special;
  with_slope("BesselI0", [](const Tensor& x, const Tensor&) { return bessel_i1(x); });
  with_slope("BesselI0e", [](const Tensor& x, const Tensor& y) { return bessel_i1e(x) - sign(x) * y; });
  // At zero the quotients have limits.
  with_slope("BesselI1", [](const Tensor& x, const Tensor& y) {
    return where(equal(x, 0.0), 1.0, bessel_i0(x) - divide(y, x));
  });
  with_slope("BesselI1e", [](const Tensor& x, const Tensor& y) {
    const double tiny = epsilon_of(x.dtype());
    const Tensor apart = abs(x) > tiny;
    const Tensor safe = where(apart, x, tiny);
    return where(apart, bessel_i0e(safe) - y * (sign(safe) + reciprocal(safe)), 0.5);
  });
  with_slope("BesselK0", [](const Tensor& x, const Tensor&) { return -bessel_k1(x); });
  with_slope("BesselK0e", [](const Tensor& x, const Tensor& y) { return y - bessel_k1e(x); });
  with_slope("BesselK1", [](const Tensor& x, const Tensor& y) { return -bessel_k0(x) - divide(y, x); });
  with_slope("BesselK1e",
             [](const Tensor& x, const Tensor& y) { return y * (1.0 - reciprocal(x)) - bessel_k0e(x); });
  with_slope("BesselJ0", [](const Tensor& x, const Tensor&) { return -bessel_j1(x); });
  with_slope("BesselJ1", [](const Tensor& x, const Tensor& y) {
    return where(equal(x, 0.0), 0.5, bessel_j0(x) - divide(y, x));
  });
  with_slope("BesselY0", [](const Tensor& x, const Tensor&) { return -bessel_y1(x); });
  with_slope("BesselY1", [](const Tensor& x, const Tensor& y) { return bessel_y0(x) - divide(y, x); });
  with_slope("Dawsn", [](const Tensor& x, const Tensor& y) { return 1.0 - 2.0 * x * y; });
  with_slope("Expint", [](const Tensor& x, const Tensor&) { return divide(exp(x), x); });
  with_slope("FresnelSin",
             [](const Tensor& x, const Tensor&) { return sin(std::numbers::pi / 2 * square(x)); });
  with_slope("FresnelCos",
             [](const Tensor& x, const Tensor&) { return cos(std::numbers::pi / 2 * square(x)); });
  with_slope("Spence", [](const Tensor& x, const Tensor&) {
    return where(equal(x, 1.0), -1.0, divide(math::log(x), 1.0 - x));
  });
}

}  // namespace rw
