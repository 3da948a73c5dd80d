// The networks of examples/mnist.cc and examples/cnn.cc on Fashion-MNIST, for check_keras_curves.py, which
// trains the same in Keras.
//   keras_curves mnist|cnn WEIGHTS steps|steps64 N  N steps from the weights in the file, in float32 or
//   float64: each
//                                                  one's loss
//   keras_curves mnist|cnn WEIGHTS epochs N ROWS   N epochs on the first ROWS images: loss and accuracy of
//   each
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "rewind/data/named.h"
#include "rewind/keras/keras.h"
#include "rewind/rewind.h"

namespace {

using namespace rw;         // NOLINT: a program of its own
using namespace rw::keras;  // NOLINT

Model mnist(double scale) {
  const auto x = Input({28, 28});
  auto y = Reshape({784})(Rescaling(scale)(x));
  y = Dense(100, {.activation = "relu"})(y);
  y = Dense(100, {.activation = "relu"})(y);
  return Model(x, Dense(10)(y));
}

Model cnn(double scale) {
  const auto x = Input({28, 28});
  auto y = Reshape({28, 28, 1})(Rescaling(scale)(x));
  y = Conv2D(32, 3, {.activation = "relu"})(y);
  y = Conv2D(64, 3, {.activation = "relu"})(y);
  y = Flatten()(MaxPooling2D(2)(y));
  y = Dense(128, {.activation = "relu"})(y);
  return Model(x, Dense(10)(y));
}

int run(int argc, char** argv) {
  if (argc < 5) return 2;
  const bool small = !std::strcmp(argv[1], "mnist"), wide = !std::strcmp(argv[3], "steps64");
  if (wide) set_dtype_policy("float64");
  // Powers of two are the same numbers in both types: Keras makes a float32 of such constants first.
  const double scale = wide ? 0x1p-8 : 1 / 255.0;
  Model model = small ? mnist(scale) : cnn(scale);
  const int64_t batch = small ? 100 : 64;
  model.load_weights(argv[2]);
  model.compile(
      {.optimizer = Adam({.learning_rate = wide ? 0x1p-10 : 1e-3}),
       .loss = SparseCategoricalCrossentropy({.from_logits = true, .dtype = wide ? float64 : float32}),
       .metrics = {"accuracy"}});
  const auto data = data::load_fashion_mnist();
  const int count = std::atoi(argv[4]);
  if (std::strcmp(argv[3], "epochs") != 0) {
    for (int64_t i = 0; i < count; ++i) {
      const Slice rows(i * batch, (i + 1) * batch);
      model.reset_metrics();
      printf("%.9g\n", *model.train_on_batch(data.train_images(rows), data.train_labels(rows)).get("loss"));
    }
    return 0;
  }
  const Slice rows(0, argc > 5 ? std::atoll(argv[5]) : 60000);
  const auto history = model.fit(data.train_images(rows), data.train_labels(rows),
                                 {.batch_size = batch, .epochs = count, .verbose = 0, .shuffle = false});
  for (const char* name : {"loss", "accuracy"})
    for (const double v : history[name]) printf("%.9g\n", v);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
