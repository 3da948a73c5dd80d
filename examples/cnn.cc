// A small convolutional network on Fashion-MNIST: two convolutions, a pool, two dense layers.
//   cnn [epochs] [seed]
#include <cstdio>
#include <cstdlib>

#include "rewind/data/named.h"
#include "rewind/keras/keras.h"
#include "rewind/rewind.h"

namespace keras = rw::keras;

int main(int argc, char** argv) {
  try {
    const int epochs = argc > 1 ? std::atoi(argv[1]) : 4;
    rw::random::set_seed(argc > 2 ? std::atoi(argv[2]) : 1);
    const auto data = rw::data::load_fashion_mnist();

    auto x = keras::Input({28, 28});
    auto y = keras::Rescaling(1 / 255.0)(x);
    y = keras::Reshape({28, 28, 1})(y);
    y = keras::Conv2D(32, 3, {.activation = "relu"})(y);
    y = keras::Conv2D(64, 3, {.activation = "relu"})(y);
    y = keras::MaxPooling2D(2)(y);
    y = keras::Flatten()(y);
    y = keras::Dense(128, {.activation = "relu"})(y);
    y = keras::Dense(10)(y);
    keras::Model model(x, y, {.name = "cnn"});

    model.summary();
    model.compile({.optimizer = keras::Adam(),
                   .loss = keras::SparseCategoricalCrossentropy({.from_logits = true}),
                   .metrics = {"accuracy"}});
    model.fit(data.train_images, data.train_labels, {.batch_size = 64, .epochs = epochs});
    const auto test = model.evaluate(data.test_images, data.test_labels, {.batch_size = 500, .verbose = 0});
    std::printf("test accuracy %.4f\n", test["accuracy"]);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
