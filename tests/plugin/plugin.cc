// A user's plug-in: it compiles a function, differentiates it, trains a layer, matches a pattern and says
// whether the results are right.
#include <rewind/keras/keras.h>
#include <rewind/rewind.h>

#include <cmath>
#include <cstdio>
#include <exception>

namespace {

// f(x) = sum(tanh(x w) * exp(-x)), compiled, with its gradient; against the same ops one by one.
bool computes() {
  const rw::Variable w(0.5f);
  const auto plain = [&](const rw::Tensor& x) { return rw::reduce_sum(rw::tanh(x * w) * rw::exp(-x)); };
  const auto compiled = rw::function(plain);
  const rw::Tensor x = rw::linspace(-1.0f, 1.0f, 1000);
  rw::GradientTape eager_tape, tape;
  const rw::Tensor expected = plain(x), got = compiled(x);
  const rw::Tensor expected_slope = eager_tape.gradient(expected, w), slope = tape.gradient(got, w);
  const auto near = [](const rw::Tensor& a, const rw::Tensor& b) {
    const float x = a.item<float>(), y = b.item<float>();
    const bool is = std::abs(x - y) < 1e-2f && y != 0;
    if (!is) std::printf("got %.9g, expected %.9g\n", x, y);
    return is;
  };
  return near(got, expected) && near(slope, expected_slope);
}

bool trains() {
  rw::keras::Sequential model(
      {rw::keras::layers::Dense(4, {.activation = "relu"}), rw::keras::layers::Dense(1)});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  const auto history = model.fit(rw::ones({8, 3}), rw::zeros({8, 1}), {.epochs = 2, .verbose = 0});
  return history["loss"].size() == 2;
}

bool matches() {
  const rw::Tensor text =
      rw::strings::regex_replace(rw::constant({"Ann <ann@example.com>"}), R"((\w+) <(\pL+)@.*>)", R"(\2)");
  const bool is = text.to_vector<std::string>()[0] == "ann";
  if (!is) std::printf("a pattern gave %s\n", text.to_vector<std::string>()[0].c_str());
  return is;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int run_plugin() {
  try {
    return computes() && trains() && matches() ? 0 : 1;
  } catch (const std::exception& e) {
    std::printf("%s\n", e.what());
    return 2;
  }
}
