// Training steps of one's own: compiled, by a tape that watches what it is told, by a tape inside a tape.
#include <iostream>

#include "rewind/keras/keras.h"
#include "rewind/rewind.h"

namespace {

namespace keras = rw::keras;
using rw::Tensor;

Tensor waves(const rw::Shape& shape) {
  return rw::reshape(rw::sin(rw::cast(rw::range(shape.num_elements()), rw::float32) * 0.7), shape);
}

keras::Sequential network() {
  auto model = keras::Sequential(
      {keras::Input({8, 8, 1}),
       keras::Conv2D(4, 3, {.activation = "relu", .kernel_initializer = "he_normal", .name = "conv1"}),
       keras::Flatten(), keras::Dense(10, {.activation = "softmax"})});
  std::vector<Tensor> values;
  for (const rw::Variable& w : model.weights()) values.push_back(0.3 * waves(w.shape()));
  model.set_weights(values);
  return model;
}

float mean(const Tensor& x) { return rw::reduce_mean(x).item<float>(); }
Tensor square_sum(const Tensor& x) { return rw::reduce_sum(x * x); }

}  // namespace

int main() {
  const Tensor images = waves({12, 8, 8, 1});
  const Tensor labels = rw::one_hot(rw::range(12) % 10, 10);
  {
    auto model = network();
    auto optimizer = keras::Adam();
    auto train_step = rw::function([&](const Tensor& x, const Tensor& y) {
      rw::GradientTape tape;
      const Tensor loss = keras::categorical_crossentropy(y, model(x));
      const auto variables = model.trainable_variables();
      optimizer.apply_gradients(tape.gradient(loss, variables), variables);
      return loss;
    });
    for (int i = 0; i < 5; ++i) std::cout << "compiled " << mean(train_step(images, labels)) << "\n";
  }
  {
    auto model = network();
    auto optimizer = keras::Adam();
    for (int i = 0; i < 3; ++i) {
      rw::GradientTape tape({.persistent = true, .watch_accessed_variables = false});
      const auto variables = model.trainable_variables();
      tape.watch(variables);
      const Tensor loss = keras::categorical_crossentropy(labels, model(images));
      const rw::Variable unused(1.0);
      auto sources = variables;
      sources.push_back(unused);
      auto gradients =
          tape.gradient(loss, sources, {.unconnected_gradients = rw::UnconnectedGradients::ZERO});
      std::cout << "unconnected " << gradients.back().tensor().item<float>() << "\n";
      gradients.pop_back();
      optimizer.apply_gradients(gradients, variables);
      std::cout << "watched " << mean(loss) << "\n";
    }
  }
  auto model = network();
  auto optimizer = keras::Adam();
  const auto dataset = rw::data::Dataset::from_tensor_slices(std::tuple(images, labels)).batch(4);
  for (int epoch = 0; epoch < 2; ++epoch)
    for (const auto& [x, y] : dataset) {
      rw::GradientTape tape({.persistent = true});
      const auto variables = model.trainable_variables();
      Tensor loss;
      std::vector<rw::Gradient> gradients;
      {
        rw::GradientTape inner_tape;
        loss = keras::categorical_crossentropy(y, model(x));
        gradients = inner_tape.gradient(loss, variables);
      }
      std::vector<Tensor> squares;
      for (const rw::Gradient& g : gradients) squares.push_back(square_sum(g));
      const Tensor norm = rw::add_n(squares);
      const Tensor second = tape.gradient(norm, variables[0]);
      optimizer.apply_gradients(gradients, variables);
      std::cout << "nested " << epoch << " " << mean(loss) << " " << norm.item<float>() << " "
                << square_sum(second).item<float>() << "\n";
    }
  for (const rw::Variable& w : model.weights())
    std::cout << keras::weight_path(w) << " " << square_sum(w.value()).item<float>() << "\n";
}
