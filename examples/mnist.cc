// Fashion-MNIST by a network of 784-100-100-10, the way Keras users would write it: fit with its progress
// bar, inside a budget of memory, then the test accuracy and the curves.
//   mnist [epochs] [seed]   trains with fit
//   mnist in_graph [seed]   the whole loop over the data is one compiled function, with a line every 10
//   steps:
//                           a plain for and a plain if, as rewind-autograph allows
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "rewind/data/named.h"
#include "rewind/keras/keras.h"
#include "rewind/rewind.h"

namespace keras = rw::keras;
using rw::Tensor;
using namespace rw::literals;

namespace {

keras::Sequential network() {
  return keras::Sequential({keras::Input({28, 28}), keras::Rescaling(1 / 255.0), keras::Reshape({784}),
                            keras::Dense(100, {.activation = "relu"}),
                            keras::Dense(100, {.activation = "relu"}), keras::Dense(10)});
}

int fit(const rw::data::ImageClasses& data, int epochs) {
  auto model = network();
  model.summary();
  model.compile({.optimizer = keras::Adam(),
                 .loss = keras::SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {"accuracy"},
                 .memory_budget = 96_MiB});
  const auto history = model.fit(data.train_images, data.train_labels,
                                 {.batch_size = 100,
                                  .epochs = epochs,
                                  .validation_data = {{data.test_images, data.test_labels}},
                                  .validation_batch_size = 1000});
  const auto test = model.evaluate(data.test_images, data.test_labels, {.batch_size = 1000, .verbose = 0});
  keras::plot_history(history, "mnist.svg", {.title = "784-100-100-10 on Fashion-MNIST"});
  std::printf("test accuracy %.4f, peak of memory %.0f of 96 MiB, curves in mnist.svg\n", test["accuracy"],
              double(rw::memory::stats().peak) / (1 << 20));
  return 0;
}

int in_graph(const rw::data::ImageClasses& data) {
  auto model = network();
  auto optimizer = keras::Adam();
  auto compute_loss = keras::SparseCategoricalCrossentropy({.from_logits = true});
  keras::SparseCategoricalAccuracy compute_accuracy;
  auto train_one_step = [&](const Tensor& x, const Tensor& y) {
    rw::GradientTape tape;
    const Tensor logits = model(x);
    const Tensor loss = compute_loss(y, logits);
    const auto weights = model.trainable_variables();
    optimizer.apply_gradients(tape.gradient(loss, weights), weights);
    compute_accuracy(y, logits);
    return loss;
  };
  const auto batches = rw::data::Dataset::from_tensor_slices(std::tuple(data.train_images, data.train_labels))
                           .repeat()
                           .shuffle(50000)
                           .batch(100)
                           .take(1000);
  auto train = rw::function([&] {
    Tensor step = 0, loss = 0.0;
    for (auto [x, y] : batches) {
      step += 1;
      loss = train_one_step(x, y);
      if (step % 10 == 0) rw::print("Step", step, ": loss", loss, "; accuracy", compute_accuracy.result());
    }
    return std::tuple(step, loss);
  });
  const auto [step, loss] = train();
  const Tensor hits = rw::argmax(model(data.test_images), 1) == rw::cast(data.test_labels, rw::int64);
  std::printf("Final step %d: loss %.4f; accuracy %.4f; test accuracy %.4f\n", step.item<int32_t>(),
              double(loss.item<float>()), double(compute_accuracy.result().item<float>()),
              double(rw::reduce_mean(rw::cast(hits, rw::float32)).item<float>()));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    rw::random::set_seed(argc > 2 ? std::atoi(argv[2]) : 1);
    const auto data = rw::data::load_fashion_mnist();
    if (argc > 1 && !std::strcmp(argv[1], "in_graph")) return in_graph(data);
    return fit(data, argc > 1 ? std::atoi(argv[1]) : 10);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
