// Training through Keras layers: a step of the models of mnist_mlp and cnn_b64, and what fit adds to a step
// with its data, a metric and a progress bar.
#include <sstream>

#include "benchmarks/workload.h"
#include "rewind/keras/keras.h"
#include "rewind/rewind.h"

namespace bench {
namespace {

namespace keras = rw::keras;

keras::Sequential mlp() {
  return keras::Sequential({keras::Reshape({784}), keras::Dense(100, {.activation = "relu"}),
                            keras::Dense(100, {.activation = "relu"}), keras::Dense(10)});
}
keras::Sequential cnn() {
  return keras::Sequential({keras::Conv2D(32, 3, {.activation = "relu"}),
                            keras::Conv2D(64, 3, {.activation = "relu"}), keras::MaxPooling2D(),
                            keras::Flatten(), keras::Dense(128, {.activation = "relu"}), keras::Dense(10)});
}

// The bare step: forward, gradients, Adam.
double step_us(const keras::Sequential& model, const rw::Shape& input, int warm, int repeats) {
  const rw::Tensor x = rw::random::uniform(input);
  const rw::Tensor y = rw::random::uniform({input[0]}, {.maxval = 10, .dtype = rw::int64});
  const auto adam = keras::Adam();
  const auto loss_of = keras::SparseCategoricalCrossentropy({.from_logits = true});
  const auto step = rw::function([&](rw::Tensor a, rw::Tensor b) {
    rw::GradientTape tape;
    const rw::Tensor loss = loss_of(b, model(a, {.training = true}));
    const auto weights = model.trainable_variables();
    adam.apply_gradients(tape.gradient(loss, weights), weights);
    return loss;
  });
  return median_us(warm, repeats, [&] { step(x, y).item<float>(); });
}

void keras_mnist() {
  say("keras_mnist", "rewind", "step", {{"ms", step_us(mlp(), {100, 28, 28}, 20, 400) / 1e3}});
  const rw::Tensor x = rw::random::uniform({20000, 28, 28});
  const rw::Tensor y = rw::random::uniform({20000}, {.maxval = 10, .dtype = rw::int64});
  auto model = mlp();
  model.compile({.optimizer = "adam",
                 .loss = keras::SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {"accuracy"}});
  std::ostringstream drawn;
  const double us = median_us(1, 5, [&] {
    model.fit(x, y,
              {.batch_size = 100, .callbacks = {keras::ProgressBar({.output = &drawn, .terminal = true})}});
  });
  say("keras_mnist", "rewind", "fit", {{"ms", us / 200 / 1e3}});
}

void keras_cnn() {
  say("keras_cnn", "rewind", "step", {{"ms", step_us(cnn(), {64, 28, 28, 1}, 3, 20) / 1e3}});
}

}  // namespace

std::vector<Workload> keras_workloads() { return {{"keras_mnist", keras_mnist}, {"keras_cnn", keras_cnn}}; }

}  // namespace bench
