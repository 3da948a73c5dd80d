// A network that learns a solution of Burgers' equation from the equation alone: no data, only
//   u_t + u u_x = (0.01 / pi) u_xx,   u(x, 0) = -sin(pi x),   u(-1, t) = u(1, t) = 0.
// The residual needs first and second derivatives of the network, and training needs their gradients: tapes
// inside a tape, compiled into one step. The result is compared with the exact solution.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <numbers>

#include "rewind/keras/keras.h"
#include "rewind/keras/optimizers.h"
#include "rewind/rewind.h"

namespace keras = rw::keras;

namespace {

constexpr double kViscosity = 0.01 / std::numbers::pi;

// By the formula of Cole and Hopf, its integrals by the trapezoidal rule.
double exact(double x, double t) {
  if (t <= 0) return -std::sin(std::numbers::pi * x);
  const double width = std::sqrt(4 * kViscosity * t), c = 1 / (2 * std::numbers::pi * kViscosity);
  double above = 0, below = 0;
  constexpr int kPoints = 4000;
  for (int i = 0; i <= kPoints; ++i) {
    const double eta = -8 + 16.0 * i / kPoints, y = x - width * eta;
    const double weight = std::exp(-std::cos(std::numbers::pi * y) * c - c - eta * eta);
    above += std::sin(std::numbers::pi * y) * weight;
    below += weight;
  }
  return -above / below;
}

struct Solution : keras::Model {
  keras::Sequential network{{keras::Dense(32, {.activation = "tanh"}),
                             keras::Dense(32, {.activation = "tanh"}),
                             keras::Dense(32, {.activation = "tanh"}), keras::Dense(1)}};
  rw::Tensor call(const rw::Tensor& points, const keras::CallArgs&) override { return network(points); }
  RW_TRACK(network)
};

// How far u is from solving the equation, at each point (x, t).
rw::Tensor residual(const Solution& u, const rw::Tensor& points) {
  rw::GradientTape second({.persistent = false, .watch_accessed_variables = false});
  second.watch(points);
  rw::Tensor value, slope;
  {
    rw::GradientTape first({.persistent = false, .watch_accessed_variables = false});
    first.watch(points);
    value = u(points);
    slope = first.gradient(value, points);  // u_x, u_t
  }
  const rw::Tensor u_x = slope(rw::Slice(), rw::Slice(0, 1)), u_t = slope(rw::Slice(), rw::Slice(1, 2));
  const rw::Tensor curvature = second.gradient(u_x, points);  // u_xx, u_xt
  return u_t + value * u_x - kViscosity * curvature(rw::Slice(), rw::Slice(0, 1));
}

double error_of(const Solution& u, const char* svg);

int train(int steps) {
  rw::random::set_seed(1);
  Solution u;
  auto optimizer = keras::Adam({.learning_rate = keras::schedules::CosineDecay(
                                    {.initial_learning_rate = 5e-3, .decay_steps = double(steps)})});
  const rw::Tensor scale = rw::constant({2.f, 1.f}), shift = rw::constant({-1.f, 0.f});
  auto step = rw::function([&] {
    const rw::Tensor inside = rw::random::uniform({2000, 2}) * scale + shift;
    const rw::Tensor x0 = rw::random::uniform({200, 1}) * 2.f - 1.f, t = rw::random::uniform({200, 1});
    const rw::Tensor start = rw::concat({x0, rw::zeros_like(x0)}, 1);
    const rw::Tensor sides = rw::concat({rw::sign(x0), t}, 1);
    rw::GradientTape tape;
    const rw::Tensor of_equation = rw::reduce_mean(rw::square(residual(u, inside)));
    const rw::Tensor of_start = rw::reduce_mean(rw::square(u(start) + rw::sin(float(std::numbers::pi) * x0)));
    const rw::Tensor of_sides = rw::reduce_mean(rw::square(u(sides)));
    const rw::Tensor loss = of_equation + 10.f * of_start + of_sides;
    const auto weights = u.trainable_variables();
    optimizer.apply_gradients(tape.gradient(loss, weights), weights);
    return loss;
  });
  std::printf("u_t + u u_x = %.5f u_xx, a network of 3 x 32, %d steps of 2,000 points\n", kViscosity, steps);
  for (int i = 1; i <= steps; ++i) {
    const rw::Tensor loss = step();
    if (i % 1000 == 0 || i == steps) std::printf("step %5d  loss %.2e\n", i, double(loss.item<float>()));
    std::fflush(stdout);
  }
  std::printf("relative error against the exact solution: %.4f (curves in physics.svg)\n",
              error_of(u, "physics.svg"));
  return 0;
}

// The distance to the exact solution at three times, relative to its size; draws both.
double error_of(const Solution& u, const char* svg) {
  constexpr int kPoints = 201;
  std::ofstream out(svg);
  out << R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 260" font-family="sans-serif" font-size="13">
<style>svg{background:#fff;color:#222}@media(prefers-color-scheme:dark){svg{background:#16181c;color:#e6e6e6}}
text{fill:currentColor}.e{stroke:currentColor;opacity:.45;stroke-width:4}.n{stroke:#e8590c;stroke-width:1.6}path{fill:none}</style>
<text x="16" y="22">Burgers' equation: the network (thin) on the exact solution (broad)</text>
)";
  double distance = 0, size = 0;
  int panel = 0;
  for (const float t : {0.25f, 0.5f, 0.75f}) {
    std::vector<float> points;
    for (int i = 0; i < kPoints; ++i) points.insert(points.end(), {-1 + 2.f * float(i) / (kPoints - 1), t});
    const auto learned = u(rw::constant(points, {kPoints, 2})).to_vector<float>();
    std::string lines[2];
    for (int i = 0; i < kPoints; ++i) {
      const double x = points[size_t(2 * i)], truth = exact(x, double(t)), mine = learned[size_t(i)];
      distance += (mine - truth) * (mine - truth);
      size += truth * truth;
      for (const bool own : {false, true}) {
        char text[64];
        std::snprintf(text, sizeof(text), "%c%.1f %.1f", i ? 'L' : 'M', 130 + 230 * panel + 100 * x,
                      140 - 85 * (own ? mine : truth));
        lines[own] += text;
      }
    }
    out << "<path class=\"e\" d=\"" << lines[0] << "\"/><path class=\"n\" d=\"" << lines[1]
        << "\"/><text x=\"" << 105 + 230 * panel << "\" y=\"248\">t = " << t << "</text>\n";
    ++panel;
  }
  out << "</svg>\n";
  return std::sqrt(distance / size);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return train(argc > 1 ? std::atoi(argv[1]) : 8000);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
