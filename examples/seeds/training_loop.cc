// A training loop inside the graph: the loop, the tape, the updates and the prints are one function.
#include <iostream>

#include "rewind/rewind.h"

namespace {

using rw::Tensor;

Tensor numbers(int64_t count) { return rw::cast(rw::range(count), rw::float32); }

struct Network {
  rw::Variable w1{rw::reshape(rw::sin(numbers(16)), {2, 8})};
  rw::Variable b1{rw::zeros({8})};
  rw::Variable w2{rw::reshape(rw::cos(numbers(8)), {8, 1})};
  rw::Variable b2{rw::zeros({1})};
  std::vector<rw::Variable> variables{w1, b1, w2, b2};

  Tensor train_one_step(const Tensor& x, const Tensor& y) {
    rw::GradientTape tape;
    const Tensor hidden = rw::nn::relu(rw::matmul(x, w1) + b1);
    const Tensor loss = rw::reduce_mean(rw::pow(rw::matmul(hidden, w2) + b2 - y, 2));
    const auto gradients = tape.gradient(loss, variables);
    for (size_t i = 0; i < variables.size(); ++i) variables[i].assign_sub(0.1 * Tensor(gradients[i]));
    return loss;
  }
};

}  // namespace

int main() {
  const Tensor x = rw::reshape(numbers(24), {12, 2}) / 24.0;
  const Tensor y = rw::sin(rw::matmul(3.0 * x, rw::constant({{1.0}, {-2.0}})));
  Network network;

  auto train = rw::function([&](const Tensor& x, const Tensor& y, const Tensor& steps) {
    std::cout << "Tracing!\n";
    return rw::while_loop([&](const Tensor& step, const Tensor&) { return step < steps; },
                          [&](const Tensor& before, const Tensor&) {
                            const Tensor step = before + 1;
                            const Tensor loss = network.train_one_step(x, y);
                            const auto report = [&] {
                              rw::print({.output_stream = "stdout"}, "Step", step, ": loss", loss);
                            };
                            rw::cond(step % 10 == 0, report, [] {});
                            return std::tuple(step, loss);
                          },
                          std::tuple(0, 0.0));
  });
  for (const int steps : {50, 20}) {
    const auto [step, loss] = train(x, y, rw::constant(steps));
    std::cout << "Final step " << step << " : loss " << loss << "\n";
  }
  for (const rw::Variable& variable : network.variables) std::cout << rw::reduce_sum(variable) << "\n";
}
