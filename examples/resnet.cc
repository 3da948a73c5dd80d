// A small residual network, as on CIFAR-10: three stages of blocks with batch normalization, images that are
// shifted and turned over in training, a rate that warms up and falls.
//   resnet [epochs] [blocks a stage] [images to learn from; 0: all] [folder of CIFAR-10's binary files]
// Without the folder it learns Fashion-MNIST.
#include <cstdio>
#include <cstdlib>

#include "rewind/data/named.h"
#include "rewind/keras/keras.h"
#include "rewind/rewind.h"

namespace keras = rw::keras;
using rw::Tensor;

namespace {

constexpr int64_t kBatch = 128;

keras::KerasTensor convolved(const keras::KerasTensor& x, int64_t filters, int64_t size, int64_t stride) {
  const auto y = keras::Conv2D(filters, size,
                               {.strides = stride,
                                .padding = "same",
                                .use_bias = false,
                                .kernel_initializer = "he_normal",
                                .kernel_regularizer = keras::regularizers::L2(1e-4)})(x);
  return keras::BatchNormalization({.momentum = 0.9})(y);
}

keras::KerasTensor block(const keras::KerasTensor& x, int64_t filters, int64_t stride) {
  auto y = keras::layers::Activation("relu")(convolved(x, filters, 3, stride));
  y = convolved(y, filters, 3, 1);
  const auto around = stride == 1 ? x : convolved(x, filters, 1, stride);
  return keras::layers::Activation("relu")(keras::Add()({y, around}));
}

keras::Model network(const rw::Shape& image, int blocks) {
  const auto input = keras::Input(image, {.name = "image"});
  auto x = keras::layers::Activation("relu")(convolved(input, 16, 3, 1));
  for (const int64_t filters : {16, 32, 64})
    for (int i = 0; i < blocks; ++i) x = block(x, filters, filters > 16 && i == 0 ? 2 : 1);
  x = keras::GlobalAveragePooling2D()(x);
  return {input, keras::Dense(10)(x), {.name = "resnet"}};
}

int train(int epochs, int blocks, int64_t most, const char* cifar10) {
  const auto data = cifar10 ? rw::data::load_cifar10(cifar10) : rw::data::load_fashion_mnist();
  const auto prepared = [&](const Tensor& pixels) {  // (n, height, width, channels), -1 to 1
    const Tensor x = rw::cast(most > 0 ? pixels(rw::Slice(0, most)) : pixels, rw::float32) / 127.5f - 1.f;
    return x.rank() == 4 ? x : rw::expand_dims(x, -1);
  };
  const auto classes = [&](const Tensor& labels) {
    return rw::reshape(most > 0 ? labels(rw::Slice(0, most)) : labels, {-1});
  };
  const Tensor images = prepared(data.train_images), test_images = prepared(data.test_images);
  const Tensor labels = classes(data.train_labels), test_labels = classes(data.test_labels);
  const int64_t count = images.dim(0), height = images.dim(1), width = images.dim(2);

  const keras::Sequential augment(
      {keras::RandomFlip({.mode = "horizontal"}), keras::ZeroPadding2D(2), keras::RandomCrop(height, width)});
  const auto training = rw::data::Dataset::from_tensor_slices(std::tuple(images, labels))
                            .shuffle(count)
                            .batch(kBatch, {.drop_remainder = true})
                            .map([&](const Tensor& x, const Tensor& y) { return std::tuple(augment(x), y); })
                            .prefetch(2);
  const auto testing = rw::data::Dataset::from_tensor_slices(std::tuple(test_images, test_labels)).batch(500);

  auto model = network({height, width, images.dim(3)}, blocks);
  model.summary();
  const double steps = double(epochs * (count / kBatch));
  const auto rate = keras::schedules::CosineDecay({.initial_learning_rate = 0.01,
                                                   .decay_steps = 0.9 * steps,
                                                   .warmup_target = 0.1,
                                                   .warmup_steps = 0.1 * steps});
  model.compile({.optimizer = keras::SGD({.learning_rate = rate, .momentum = 0.9, .nesterov = true}),
                 .loss = keras::SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {"accuracy"}});
  const auto history = model.fit(training, testing, {.epochs = epochs});
  keras::plot_history(history, "resnet.svg", {.title = "A small residual network"});
  std::printf("test accuracy %.4f, curves in resnet.svg\n", history["val_accuracy"].back());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    rw::random::set_seed(1);
    const auto number = [&](int i, int otherwise) { return argc > i ? std::atoi(argv[i]) : otherwise; };
    return train(number(1, 4), number(2, 1), number(3, 0), argc > 4 ? argv[4] : nullptr);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
