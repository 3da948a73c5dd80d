// A model whose call branches on a tensor, as a Keras layer and as a module; and a training loop of its own
// that is one function: plain for over a dataset, plain if around the print.
#include "both_ways.h"
#include "rewind/keras/keras.h"

namespace {

using rw::Tensor;
namespace keras = rw::keras;
using Images = rw::data::DatasetOf<std::tuple<Tensor, Tensor>>;

struct CustomModel : keras::Model {
  Tensor call(const Tensor& input_data, const keras::CallArgs&) override {
    if (rw::reduce_mean(input_data) > 0) {
      return input_data;
    } else {
      return rw::math::floordiv(input_data, 2);
    }
  }
};

// A dense layer that trains its slope only where the input is mostly negative.
struct Leaky : rw::Module {
  rw::Variable w{rw::constant({{0.5, -0.25}, {0.125, 1.0}})}, slope{0.1};
  Tensor operator()(const Tensor& x) const {
    Tensor y = rw::matmul(x, w);
    if (rw::reduce_sum(rw::cast(y < 0, rw::int32)) > 2) y = rw::where(y < 0, slope * y, y);
    return y;
  }
  RW_TRACK(w, slope)
};

// Numbers that look like images and labels, the same on every machine.
Tensor numbers(int64_t count, int64_t each, double step) {
  return rw::reshape(rw::sin(rw::cast(rw::range(count * each), rw::float32) * step), {count, each});
}

struct Network : rw::Module {
  rw::Variable w1{numbers(16, 8, 0.7) * 0.3}, b1{rw::zeros({8})}, w2{numbers(8, 4, 1.3) * 0.3},
      b2{rw::zeros({4})};
  Tensor operator()(const Tensor& x) const {
    return rw::matmul(rw::nn::relu(rw::matmul(x, w1) + b1), w2) + b2;
  }
  RW_TRACK(w1, b1, w2, b2)
};

std::vector<Tensor> train(const Network& network, const keras::Optimizer& optimizer, const Images& dataset) {
  const rw::PrintOptions to_stdout{.output_stream = "stdout"};
  const auto variables = network.trainable_variables();
  int step = 0;
  Tensor loss = 0.0, accuracy = 0.0;
  for (auto [x, y] : dataset) {
    step += 1;
    rw::GradientTape tape;
    const Tensor logits = network(x);
    loss = rw::reduce_mean(rw::nn::sparse_softmax_cross_entropy_with_logits(y, logits));
    optimizer.apply_gradients(tape.gradient(loss, variables), variables);
    accuracy += rw::reduce_mean(rw::cast(rw::cast(rw::argmax(logits, 1), rw::int32) == y, rw::float32));
    if (step % 10 == 0) rw::print(to_stdout, "Step", step, ": loss", loss, "; accuracy", accuracy / step);
  }
  return {rw::constant(step), loss, accuracy / step};
}

Images images() {
  const Tensor x = numbers(400, 16, 0.37);
  const Tensor y = rw::cast(rw::argmax(rw::matmul(x, numbers(16, 4, 0.9)), 1), rw::int32);
  return rw::data::Dataset::from_tensor_slices(std::tuple{x, y}).batch(20);
}

}  // namespace

int main() {
  CustomModel model;
  for (const auto& x : {rw::constant({-2, -4}), rw::constant({3, 5})}) {
    both_ways::run("model", [&](const Tensor& t) { return model(t); }, x);
  }
  const Leaky layer;
  for (const auto& x : {rw::constant({{1.0, 2.0}, {0.5, -1.0}}), rw::constant({{-1.0, 2.0}, {-3.0, -1.0}})}) {
    both_ways::differentiate("leaky", [&](const Tensor& t) { return rw::reduce_sum(layer(t)); }, x);
  }
  for (const bool eager : {true, false}) {
    rw::run_functions_eagerly(eager);
    const Network network;
    const auto optimizer = keras::SGD({.learning_rate = 0.5});
    both_ways::show("trained", rw::function([&] { return train(network, optimizer, images()); })());
  }
}
