// Numerical methods that end by themselves, and their gradients: Newton's iteration, an ODE solver that
// chooses its steps, contacts of a ball with the ground, a recurrent network over a length that is a tensor.
#include "both_ways.h"

namespace {

using rw::Tensor;

// The root of x^3 = a by Newton's iteration; its derivative is a^(-2/3) / 3.
Tensor cube_root(const Tensor& a) {
  Tensor x = a;
  Tensor step = 1.0;
  while (rw::abs(step) > 1e-6) {
    step = (x * x * x - a) / (3 * x * x);
    x -= step;
  }
  return x;
}

Tensor pendulum(const Tensor& y, const Tensor& friction) {
  return rw::stack({y(1), -rw::sin(y(0)) - friction * y(1)});
}

// Heun's method beside Euler's: their difference is the error, which sets the next step. y' = f(y) up to
// `end`.
std::vector<Tensor> solve(Tensor y, const Tensor& friction, const Tensor& end) {
  Tensor t = 0.0, h = 0.1;
  int accepted = 0, refused = 0;
  while (t < end) {
    if (t + h > end) h = end - t;
    const Tensor k1 = pendulum(y, friction), k2 = pendulum(y + h * k1, friction);
    const Tensor error = rw::norm(h * (k2 - k1)) / 2 + 1e-12;
    if (error < 1e-3) {
      t += h;
      y += h * (k1 + k2) / 2;
      ++accepted;
    } else {
      ++refused;
    }
    h = h * rw::clip_by_value(0.9 * rw::sqrt(1e-3 / error), 0.3, 2.0);
  }
  return {y, rw::constant(accepted), rw::constant(refused)};
}
Tensor angle_at_end(const Tensor& angle, const Tensor& friction) {
  return solve(rw::stack({angle, rw::constant(0.0)}), friction, rw::constant(3.0))[0](0);
}

// A ball that is thrown and bounces: a spring pushes while it is in the ground, and friction slows it there.
std::vector<Tensor> bounce(const Tensor& speed, const Tensor& stiffness) {
  Tensor x = 0.0, height = 1.0, vx = speed, vy = 0.0;
  int touched = 0;
  for (Tensor step : rw::range(rw::constant(400))) {
    Tensor force = -9.81;
    const Tensor penetration = -height;
    if (penetration > 0) {
      force += stiffness * penetration - 2 * vy;
      vx -= 0.005 * 5 * vx;
      if (vy < 0) ++touched;
    }
    vy += 0.005 * force;
    x += 0.005 * vx;
    height += 0.005 * vy;
  }
  return {x, height, rw::constant(touched)};
}
Tensor distance(const Tensor& speed, const Tensor& stiffness) { return bounce(speed, stiffness)[0]; }

// A recurrent network over the first `length` rows; it stops early where its state has settled.
Tensor recurrent(const Tensor& rows, const Tensor& weights, const Tensor& length) {
  Tensor state = rw::zeros({2});
  Tensor outputs = 0.0;
  for (Tensor i : rw::range(length)) {
    const Tensor next = rw::tanh(rows(i) + rw::linalg::matvec(weights, state));
    if (rw::reduce_max(rw::abs(next - state)) < 0.01) break;
    state = next;
    outputs += rw::reduce_sum(state);
  }
  return outputs;
}
Tensor recurrent_3(const Tensor& rows, const Tensor& weights) {
  return recurrent(rows, weights, rw::constant(3));
}

}  // namespace

int main() {
  both_ways::differentiate("cube_root", cube_root, rw::constant(8.0));
  both_ways::differentiate("cube_root", cube_root, rw::constant(0.3));
  both_ways::run("pendulum", solve, rw::constant({1.0, 0.0}), rw::constant(0.3), rw::constant(3.0));
  both_ways::differentiate("angle", angle_at_end, rw::constant(1.0), rw::constant(0.3));
  both_ways::run("ball", bounce, rw::constant(2.0), rw::constant(800.0));
  both_ways::differentiate("distance", distance, rw::constant(2.0), rw::constant(800.0));
  const Tensor rows =
      rw::constant({{0.5, -0.2}, {0.1, 0.3}, {-0.4, 0.2}, {0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}});
  const Tensor weights = rw::constant({{0.3, -0.2}, {0.1, 0.4}});
  for (const int n : {0, 2, 6})
    both_ways::run("recurrent " + std::to_string(n), recurrent, rows, weights, rw::constant(n));
  both_ways::differentiate("recurrent", recurrent_3, rows, weights);
}
