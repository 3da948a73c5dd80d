// Keras models: a call that branches on a tensor, training inside one function, a custom training step.
#include <iostream>

#include "rewind/data/for_each.h"
#include "rewind/keras/keras.h"
#include "rewind/rewind.h"

namespace {

namespace keras = rw::keras;
using rw::Tensor;

struct CustomModel : keras::Model {
  Tensor call(const Tensor& x, const keras::CallArgs&) override {
    return rw::cond(rw::reduce_mean(x) > 0, [&] { return x; }, [&] { return rw::math::floordiv(x, 2); });
  }
};

Tensor waves(const rw::Shape& shape) {
  return rw::reshape(rw::sin(rw::cast(rw::range(shape.num_elements()), rw::float32) * 0.7), shape);
}
void set_waves(const keras::Model& model) {
  std::vector<Tensor> values;
  for (const rw::Variable& w : model.weights()) values.push_back(0.3 * waves(w.shape()));
  model.set_weights(values);
}

// A training step of one's own.
struct Own : keras::Model {
  keras::Dense hidden{8, {.activation = "tanh"}}, out{3, {.activation = "softmax"}};
  Tensor call(const Tensor& x, const keras::CallArgs&) override { return out(hidden(x)); }

  keras::StepLogs train_step(const keras::Batch& batch) override {
    rw::GradientTape tape;
    const Tensor predictions = (*this)(batch.x[0], {.training = true});
    const Tensor loss = rw::reduce_mean(keras::categorical_crossentropy(batch.y[0], predictions));
    const auto weights = trainable_variables();
    optimizer().apply_gradients(tape.gradient(loss, weights), weights);
    return {{"own_loss", loss}};
  }
  RW_TRACK(hidden, out)
};

}  // namespace

int main() {
  CustomModel branches;
  std::cout << branches(rw::constant({-2, -4})) << "\n" << branches(rw::constant({2, 4})) << "\n";

  // Training inside a function, with a dataset made there.
  auto model = keras::Sequential(
      {keras::Input({4, 4}), keras::Reshape({16}), keras::Dense(8, {.activation = "relu"}), keras::Dense(3)});
  set_waves(model);
  auto optimizer = keras::Adam();
  auto compute_loss = keras::SparseCategoricalCrossentropy({.from_logits = true});
  keras::SparseCategoricalAccuracy compute_accuracy;
  const Tensor images = waves({30, 4, 4});
  const Tensor labels = rw::range(30) % 3;

  auto train_one_step = [&](const Tensor& x, const Tensor& y) {
    rw::GradientTape tape;
    const Tensor logits = model(x);
    const Tensor loss = compute_loss(y, logits);
    const auto weights = model.trainable_variables();
    optimizer.apply_gradients(tape.gradient(loss, weights), weights);
    compute_accuracy(y, logits);
    return loss;
  };
  auto train = rw::function([&] {
    const auto train_ds =
        rw::data::Dataset::from_tensor_slices(std::tuple(images, labels)).repeat(10).batch(10);
    return rw::for_each(train_ds, std::tuple(rw::constant(0), rw::constant(0.0)),
                        [&](const Tensor& before, const Tensor&, const Tensor& x, const Tensor& y) {
                          const Tensor step = before + 1;
                          const Tensor loss = train_one_step(x, y);
                          const auto report = [&] {
                            rw::print({.output_stream = "stdout"}, "Step", step, ": loss", loss, "; accuracy",
                                      compute_accuracy.result());
                          };
                          rw::cond(step % 10 == 0, report, [] {});
                          return std::tuple(step, loss);
                        });
  });
  const auto [step, loss] = train();
  std::cout << "Final step " << step.item<int32_t>() << " : loss " << loss.item<float>() << " ; accuracy "
            << compute_accuracy.result().item<float>() << "\n";

  Own own;
  const Tensor flat = rw::reshape(images, {30, 16});
  own(flat);
  set_waves(own);
  own.compile({.optimizer = keras::SGD({.learning_rate = 0.1, .momentum = 0.9})});
  const auto history =
      own.fit(flat, rw::one_hot(labels, 3), {.batch_size = 10, .epochs = 3, .verbose = 0, .shuffle = false});
  for (const double value : history["own_loss"]) std::cout << "own loss " << value << "\n";
  std::cout << "[";
  for (const rw::Variable& w : own.weights())
    std::cout << (w.name() == own.weights()[0].name() ? "'" : ", '") << keras::weight_path(w) << "'";
  std::cout << "]\n";
}
