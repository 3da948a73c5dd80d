// rw::function: tracing and retracing, std::cout and rw::print, control flow, side effects, debugging.
#include <iostream>

#include "rewind/rewind.h"

namespace {

using rw::Tensor;

const rw::PrintOptions kToStdout{.output_stream = "stdout"};

Tensor inner(const Tensor& x, const Tensor& y, const Tensor& b) { return rw::matmul(x, y) + b; }

void functions_in_functions() {
  auto outer =
      rw::function([](const Tensor& x) { return inner(x, rw::constant({{2.0}, {3.0}}), rw::constant(4.0)); });
  std::cout << outer(rw::constant({{1.0, 2.0}})) << "\n";
}

void f() {
  std::cout << "Tracing!\n";
  rw::print(kToStdout, "Executing");
}

void own_traces() {
  rw::function(f)();
  rw::function(f)();
  auto once = rw::function(f);
  once();
  once();
}

void retracing() {
  auto my_relu = rw::function([](const Tensor& x) {
    std::cout << "tracing my_relu\n";
    return rw::maximum(rw::zeros_like(x), x);
  });
  std::cout << my_relu(rw::constant(5.5)) << "\n";
  std::cout << my_relu(rw::constant({3.0, -3.0})) << "\n";
  std::cout << my_relu(rw::constant(-7.5)) << "\n";
  std::cout << my_relu(rw::constant({3, -3})) << "\n";
  std::cout << my_relu.tracing_count() << "\n";

  auto power = rw::function([](const Tensor& x, int n) {
    std::cout << "tracing with n = " << n << "\n";
    Tensor y = x;
    for (int i = 1; i < n; ++i) y = y * x;
    return y;
  });
  for (const int n : {2, 3, 2, 3}) std::cout << power(rw::constant(2.0), n) << "\n";

  const std::vector<rw::TensorSpec> signature{{{-1}, rw::int32}};
  auto next_collatz = rw::function(
      [](const Tensor& x) {
        std::cout << "tracing next_collatz\n";
        return rw::where(x % 2 == 0, rw::math::floordiv(x, 2), 3 * x + 1);
      },
      {.input_signature = signature});
  std::cout << next_collatz(rw::constant({1, 2})) << "\n";
  std::cout << next_collatz(rw::constant({7, 8, 9})) << "\n";
  try {
    next_collatz(rw::constant({{1, 2}, {3, 4}}));
  } catch (const rw::InvalidArgumentError&) { std::cout << "a matrix does not fit\n"; }
}

struct CustomModel : rw::Module {
  Tensor operator()(const Tensor& input_data) const {
    return rw::cond(
        rw::reduce_mean(input_data) > 0, [&] { return input_data; },
        [&] { return rw::math::floordiv(input_data, 2); });
  }
};

void control_flow() {
  auto sum_even = rw::function([](const Tensor& items) {
    return rw::foldl(
        [](const Tensor& s, const Tensor& c) {
          return rw::cond(c % 2 > 0, [&] { return s; }, [&] { return s + c; });
        },
        items, 0);
  });
  std::cout << sum_even(rw::constant({10, 12, 15, 20})) << "\n";

  auto collatz = rw::function([](const Tensor& start) {
    const auto [n, steps] =
        rw::while_loop([](const Tensor& n, const Tensor&) { return n > 1; },
                       [](const Tensor& n, const Tensor& steps) {
                         const Tensor next = rw::cond(
                             n % 2 == 0, [&] { return rw::math::floordiv(n, 2); }, [&] { return 3 * n + 1; });
                         return std::tuple(next, steps + 1);
                       },
                       std::tuple(start, 0));
    return steps;
  });
  std::cout << collatz(rw::constant(6171)) << "\n";

  auto model = rw::function(CustomModel());
  std::cout << model(rw::constant({-2, -4})) << "\n";
  std::cout << model(rw::constant({2, 4})) << "\n";

  auto fizzbuzz = rw::function([](const Tensor& n) {
    rw::while_loop(
        [&](const Tensor& i) { return i <= n; },
        [](const Tensor& i) {
          const auto number_or_buzz = [&] {
            rw::cond(i % 5 == 0, [] { rw::print(kToStdout, "Buzz"); }, [&] { rw::print(kToStdout, i); });
          };
          const auto no_fizzbuzz = [&] {
            rw::cond(i % 3 == 0, [] { rw::print(kToStdout, "Fizz"); }, number_or_buzz);
          };
          rw::cond(i % 15 == 0, [] { rw::print(kToStdout, "FizzBuzz"); }, no_fizzbuzz);
          return i + 1;
        },
        1);
  });
  fizzbuzz(rw::constant(15));
}

void side_effects() {
  rw::Variable v(2.0);
  auto update = rw::function([&](const Tensor& x, const Tensor& y) {
    v.assign(y * v);
    rw::print(kToStdout, "v is", v);
    v.assign_add(x);
    rw::print(kToStdout, "and now", v);
    return v.value();
  });
  std::cout << update(rw::constant(1.0), rw::constant(4.0)) << "\n";
  std::cout << update(rw::constant(1.0), rw::constant(0.5)) << "\n";
}

void gradients() {
  auto cube = rw::function(
      [](const Tensor& x) { return rw::cond(x > 0.0, [&] { return x * x * x; }, [&] { return -x; }); });
  for (const double value : {2.0, -2.0}) {
    const Tensor x = rw::constant(value);
    rw::GradientTape outer_tape;
    outer_tape.watch(x);
    rw::GradientTape tape;
    tape.watch(x);
    const Tensor y = cube(x);
    const Tensor dy = tape.gradient(y, x);
    std::cout << y << "\n" << dy << "\n";
    std::cout << outer_tape.gradient(dy, x, {.unconnected_gradients = rw::UnconnectedGradients::ZERO})
              << "\n";
  }
  auto slope = rw::function([](const Tensor& x) {
    rw::GradientTape tape;
    tape.watch(x);
    const Tensor y = rw::reduce_sum(rw::sin(x) * x);
    return Tensor(tape.gradient(y, x));
  });
  std::cout << slope(rw::constant({0.5, 1.0})) << "\n";
}

void debugging() {
  int runs = 0;
  auto g = rw::function([&](const Tensor& x) {
    ++runs;
    return rw::cond(x > 0, [&] { return x + 1; }, [&] { return x; });
  });
  rw::run_functions_eagerly(true);
  g(rw::constant(1));
  g(rw::constant(1));
  rw::run_functions_eagerly(false);
  std::cout << runs << "\n";
}

}  // namespace

int main() {
  functions_in_functions();
  own_traces();
  retracing();
  control_flow();
  side_effects();
  gradients();
  debugging();
}
