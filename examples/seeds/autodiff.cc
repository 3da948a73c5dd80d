// Automatic differentiation: watched tensors, structures of sources, unconnected gradients, jacobians.
#include <iostream>

#include "rewind/rewind.h"

namespace {

void watched_tensor() {
  const rw::Tensor x = rw::constant({3.0});
  rw::GradientTape tape({.persistent = true});
  tape.watch(x);
  const rw::Tensor y = rw::pow(x, x);
  std::cout << tape.gradient(y, x) << "\n";
}

void structures() {
  const rw::Variable w(rw::constant({{1.0, 2.0}, {3.0, 4.0}}), {.name = "w"});
  const rw::Variable b(rw::constant({0.5, -0.5}), {.name = "b"});
  const rw::Tensor v = rw::constant({{1.0, 2.0}});
  rw::GradientTape tape({.persistent = true});
  const rw::Tensor h = rw::matmul(v, w) + b;
  const rw::Tensor loss = rw::reduce_mean(rw::pow(h, 2));
  const auto list = tape.gradient(loss, std::vector<rw::Variable>{w, b});
  std::cout << list[0] << "\n" << list[1] << "\n";
  const auto map = tape.gradient(loss, std::map<std::string, rw::Variable>{{"w", w}, {"b", b}});
  std::cout << map.at("b") << "\n";
  std::cout << tape.gradient(loss, h) << "\n";
  std::cout << "[";
  for (const rw::Variable& variable : tape.watched_variables())
    std::cout << (same_variable(variable, w) ? "" : ", ") << "'" << variable.name() << "'";
  std::cout << "]\n";

  rw::GradientTape picky({.watch_accessed_variables = false});
  picky.watch(b);
  const rw::Tensor sum = rw::reduce_sum(rw::pow(rw::matmul(v, w) + b, 2));
  const auto only = picky.gradient(sum, std::vector<rw::Variable>{w, b});
  std::cout << only[0] << "\n" << only[1] << "\n";
}

void unconnected() {
  const rw::Variable x(2.0);
  const rw::Variable z(rw::constant({1.0, 2.0}));
  rw::GradientTape tape({.persistent = true});
  const rw::Tensor y = x * x;
  std::cout << tape.gradient(y, z) << "\n";
  std::cout << tape.gradient(y, z, {.unconnected_gradients = rw::UnconnectedGradients::ZERO}) << "\n";
  const rw::Tensor i = rw::constant(10);
  rw::GradientTape integers;
  integers.watch(i);
  std::cout << integers.gradient(i * i, i) << "\n";
}

void several_targets() {
  const rw::Variable x(2.0);
  rw::GradientTape tape;
  const std::vector<rw::Tensor> targets{rw::pow(x, 2), 1 / x};
  std::cout << tape.gradient(targets, x) << "\n";
}

void higher_order() {
  const rw::Variable x(1.0);
  rw::GradientTape outer;
  rw::GradientTape inner;
  const rw::Tensor y = x * x * x;
  const rw::Tensor dy = inner.gradient(y, x);
  std::cout << dy << "\n" << outer.gradient(dy, x) << "\n";

  const rw::Tensor line = rw::linspace(-2.0, 2.0, 5);
  rw::GradientTape tape;
  tape.watch(line);
  const rw::Tensor jacobian = tape.jacobian(rw::nn::sigmoid(line), line);
  std::cout << jacobian.shape().to_string() << "\n";
}

}  // namespace

int main() {
  watched_tensor();
  structures();
  unconnected();
  several_targets();
  higher_order();
}
