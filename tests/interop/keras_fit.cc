// Models that train, whose curves check_keras_fit.py compares with Keras': the same data, initial weights and
// order of batches. One line a number of the history: "name|key v v v".
#include <cmath>
#include <cstdio>

#include "rewind/data/dataset.h"
#include "rewind/keras/keras.h"
#include "rewind/rewind.h"

namespace {

using namespace rw;         // NOLINT: a program of its own
using namespace rw::keras;  // NOLINT

Tensor wave(const Shape& shape, int number, double scale = 0.5) {
  std::vector<float> values(size_t(shape.num_elements()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(scale * std::sin(1.0 + 0.7 * double(i) + 1.3 * number) + 0.01 * number);
  return constant(values, shape);
}
Tensor ids(const Shape& shape, int limit) {
  std::vector<int32_t> values(size_t(shape.num_elements()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = int32_t((i * 7 + i / 3) % size_t(limit));
  return constant(values, shape);
}

// Builds the model, gives it its weights, trains.
void run(const char* name, Model& model, const CompileOptions& how, const Arrays& x, const Arrays& y,
         FitOptions options) {
  model.all(x.list());
  int number = 1;
  for (const Variable& v : model.weights()) {
    Tensor value = wave(v.shape(), number++, 0.3);
    if (weight_name(v).find("variance") != std::string::npos) value = abs(value) + 0.5;
    v.assign(value);
  }
  model.compile(how);
  options.verbose = 0;
  options.shuffle = false;
  const History history = model.fit(x, y, options);
  for (const auto& [key, values] : history.history) {
    printf("%s|%s", name, key.c_str());
    for (const double v : values) printf(" %.9g", v);
    printf("\n");
  }
  printf("%s|predictions", name);
  for (const Tensor& t : model.predict_all(x, {.verbose = 0}))
    for (const float v : t.to_vector<float>()) printf(" %.9g", double(v));
  printf("\n");
}

void mlp() {
  auto m = Sequential({Dense(20, {.activation = "relu"}), Dense(10)});
  run("mlp", m,
      {.optimizer = Adam({.learning_rate = 0.01}),
       .loss = SparseCategoricalCrossentropy({.from_logits = true}),
       .metrics = {"accuracy"}},
      wave({60, 12}, 0, 2.0), ids({60}, 10), {.batch_size = 16, .epochs = 15, .validation_split = 0.2});
}

void cnn() {
  auto m = Sequential({Conv2D(4, 3, {.padding = "same", .use_bias = false}), BatchNormalization(), ReLU(),
                       MaxPooling2D(), Flatten(),
                       Dense(3, {.activation = "softmax", .kernel_regularizer = regularizers::L2(0.01)})});
  run("cnn", m,
      {.optimizer = SGD({.learning_rate = 0.05, .momentum = 0.9}),
       .loss = "sparse_categorical_crossentropy",
       .metrics = {"accuracy"}},
      wave({24, 6, 6, 2}, 0, 1.0), ids({24}, 3),
      {.batch_size = 8,
       .epochs = 10,
       .validation_data = ValidationData{wave({9, 6, 6, 2}, 5, 1.0), ids({9}, 3)}});
}

void masked() {
  auto m = Sequential({Embedding(8, 4, {.mask_zero = true}), LSTM(5, {.return_sequences = true}), Dense(1)});
  run("masked", m, {.optimizer = RMSprop({.learning_rate = 0.01}), .loss = "mse", .metrics = {"mae"}},
      ids({12, 6}, 8), wave({12, 6, 1}, 2), {.batch_size = 4, .epochs = 8});
}

void binary() {
  auto m = Sequential({Dense(6, {.activation = "tanh"}), Dense(1, {.activation = "sigmoid"})});
  run("binary", m,
      {.optimizer = "adamw",
       .loss = "binary_crossentropy",
       .metrics = {"accuracy", AUC()},
       .weighted_metrics = {"mse"}},
      wave({40, 5}, 0, 1.5), cast(ids({40, 1}, 2), float32),
      {.batch_size = 16, .epochs = 6, .sample_weight = abs(wave({40}, 4)) + 0.1});
}

void classes() {
  auto m = Sequential({Dense(4, {.activation = "softmax"})});
  run("class_weight", m,
      {.optimizer = Adagrad({.learning_rate = 0.1}), .loss = "sparse_categorical_crossentropy"},
      wave({30, 5}, 0, 1.5), ids({30}, 4),
      {.batch_size = 10, .epochs = 6, .class_weight = {{0, 2.0}, {2, 0.5}, {1, 1.0}, {3, 3.0}}});
}

void outputs() {
  const KerasTensor x = Input({6});
  const KerasTensor h = Dense(8, {.activation = "gelu"})(x);
  Model m(x, {Dense(1, {.name = "value"})(h), Dense(3, {.name = "kind"})(h)});
  run("outputs", m,
      {.optimizer = Nadam({.learning_rate = 0.01}),
       .loss = {"mse", SparseCategoricalCrossentropy({.from_logits = true})},
       .loss_weights = {2.0, 0.5},
       .output_metrics = {{"mae"}, {"accuracy"}}},
      wave({32, 6}, 0), {wave({32, 1}, 1), ids({32}, 3)},
      {.batch_size = 8, .epochs = 6, .validation_split = 0.25});
}

}  // namespace

int main() {
  for (void (*f)() : {mlp, cnn, masked, binary, classes, outputs}) {
    clear_session();
    f();
  }
}
