// Training through Keras layers: a step of the models of mnist_mlp and cnn_b64, and what fit adds to a step
// with its data, a metric and a progress bar.
#include <functional>
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
class Step {
 public:
  Step(keras::Sequential model, const rw::Shape& input)
      : model_(std::move(model)),
        x_(rw::random::uniform(input)),
        y_(rw::random::uniform({input[0]}, {.maxval = 10, .dtype = rw::int64})) {}
  void operator()() { function_(x_, y_).item<float>(); }

 private:
  rw::Tensor step(const rw::Tensor& x, const rw::Tensor& y) const {
    rw::GradientTape tape;
    const rw::Tensor loss = loss_of_(y, model_(x, {.training = true}));
    const auto weights = model_.trainable_variables();
    adam_.apply_gradients(tape.gradient(loss, weights), weights);
    return loss;
  }
  keras::Sequential model_;
  rw::Tensor x_, y_;
  keras::Adam adam_;
  keras::SparseCategoricalCrossentropy loss_of_{
      keras::SparseCategoricalCrossentropyOptions{.from_logits = true}};
  std::function<rw::Tensor(const rw::Tensor&, const rw::Tensor&)> function_ =
      rw::function([this](const rw::Tensor& x, const rw::Tensor& y) { return step(x, y); });
};

double median_of(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + long(times.size() / 2), times.end());
  return times[times.size() / 2];
}

// Both by turns, as means over 200 steps, so that they see the same machine.
void keras_mnist() {
  constexpr int kSteps = 200, kRounds = 15;
  const rw::Tensor x = rw::random::uniform({100 * kSteps, 28, 28});
  const rw::Tensor y = rw::random::uniform({100 * kSteps}, {.maxval = 10, .dtype = rw::int64});
  Step step(mlp(), {100, 28, 28});
  auto model = mlp();
  model.compile({.optimizer = "adam",
                 .loss = keras::SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {"accuracy"}});
  std::ostringstream drawn;
  std::vector<double> bare, fit;
  for (int round = 0; round <= kRounds; ++round) {
    const double start = now_us();
    for (int i = 0; i < kSteps; ++i) step();
    const double middle = now_us();
    model.fit(x, y,
              {.batch_size = 100, .callbacks = {keras::ProgressBar({.output = &drawn, .terminal = true})}});
    const double end = now_us();
    if (round == 0) continue;  // traces and compiles
    bare.push_back((middle - start) / kSteps / 1e3);
    fit.push_back((end - middle) / kSteps / 1e3);
  }
  say("keras_mnist", "rewind", "step", {{"ms", median_of(bare)}});
  say("keras_mnist", "rewind", "fit",
      {{"ms", median_of(fit)}, {"more_ms", median_of(fit) - median_of(bare)}});
}

void keras_cnn() {
  Step step(cnn(), {64, 28, 28, 1});
  say("keras_cnn", "rewind", "step", {{"ms", median_us(3, 20, [&] { step(); }) / 1e3}});
}

}  // namespace

std::vector<Workload> keras_workloads() { return {{"keras_mnist", keras_mnist}, {"keras_cnn", keras_cnn}}; }

}  // namespace bench
