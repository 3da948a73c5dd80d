#include "rewind/keras/losses.h"

#include "rewind/keras/activations.h"
#include "tests/interop/keras_training/cases.h"

namespace rw::interop {
namespace {

using keras::Loss;

struct Data {
  Tensor y_true, y_pred, weight = {}, mask = {};
};

// The loss and its gradient with respect to the predictions, in one function.
void run_loss(const std::string& name, const Loss& loss, const Data& d,
              const std::function<Tensor(const Tensor&)>& activation = {}) {
  run("loss_" + name, [&] {
    const auto f = function([&](const Tensor& y, const Tensor& p) {
      GradientTape tape;
      tape.watch(p);
      const Tensor value = loss(y, activation ? activation(p) : p, d.weight, d.mask);
      return std::vector<Tensor>{value, tape.gradient(value, p)};
    });
    return f(d.y_true, d.y_pred);
  });
}

}  // namespace

void run_losses() {
  const Data real{wave({4, 3}, 1), wave({4, 3}, 2)};
  const Data positive{shares({4, 3}, 1), shares({4, 3}, 2)};
  const Data binary{cast(ids({4, 3}, 2), float32), shares({4, 3}, 2)};
  const Data binary_logits{cast(ids({4, 3}, 2), float32), wave({4, 3}, 2, 3.0)};
  const Data classes{hot({4}, 5), rows({4, 5}, 2)};
  const Data class_logits{hot({4}, 5), wave({4, 5}, 2, 3.0)};
  const Data sparse{ids({4}, 5), rows({4, 5}, 2)};
  const Data sparse_logits{ids({4}, 5), wave({4, 5}, 2, 3.0)};
  const auto weighted = [](Data d, const Tensor& weight) {
    d.weight = weight;
    return d;
  };
  const auto masked = [](Data d, const Tensor& mask) {
    d.mask = mask;
    return d;
  };
  const Tensor by_example = shares({4}, 5);
  const Tensor mask = constant({true, false, true, true});

  for (const char* name : {"mean_squared_error", "mean_absolute_error", "mean_absolute_percentage_error",
                           "cosine_similarity", "huber", "log_cosh", "categorical_hinge"}) {
    run_loss(name, name, real);
    run_loss(std::string(name) + "_weighted", name, weighted(real, by_example));
    run_loss(std::string(name) + "_masked", name, masked(real, mask));
  }
  for (const char* name : {"mean_squared_logarithmic_error", "kl_divergence", "poisson"}) {
    run_loss(name, name, positive);
    run_loss(std::string(name) + "_weighted", name, weighted(positive, by_example));
  }
  for (const char* name : {"hinge", "squared_hinge"}) {
    run_loss(name, name, binary_logits);
    run_loss(std::string(name) + "_signed", name,
             {cast(ids({4, 3}, 2), float32) * 2.0 - 1.0, wave({4, 3}, 2)});
  }
  for (const char* reduction : {"sum", "none", "mean", "mean_with_sample_weight"}) {
    run_loss(std::string("mse_") + reduction, keras::MeanSquaredError({.reduction = reduction}), real);
    run_loss(std::string("mse_weighted_") + reduction, keras::MeanSquaredError({.reduction = reduction}),
             weighted(real, by_example));
    run_loss(std::string("mse_masked_") + reduction, keras::MeanSquaredError({.reduction = reduction}),
             masked(weighted(real, by_example), mask));
  }
  run_loss("mse_column", "mse", {wave({4}, 1), wave({4, 1}, 2)});
  run_loss("mse_values_weighted", "mse",
           weighted({wave({4, 3, 2}, 1), wave({4, 3, 2}, 2)}, shares({4, 3}, 5)));
  run_loss("cosine_axis", keras::CosineSimilarity({.axis = 0}), real);
  run_loss("huber_delta", keras::Huber({.delta = 0.3}), real);

  run_loss("binary", keras::BinaryCrossentropy(), binary);
  run_loss("binary_logits", keras::BinaryCrossentropy({.from_logits = true}), binary_logits);
  run_loss("binary_smoothed", keras::BinaryCrossentropy({.label_smoothing = 0.1}),
           weighted(binary, by_example));
  run_loss("binary_of_sigmoid", keras::BinaryCrossentropy(), binary_logits,
           [](const Tensor& p) { return keras::activations::sigmoid(p); });
  run_loss("binary_focal", keras::BinaryFocalCrossentropy(), binary);
  run_loss("binary_focal_balanced",
           keras::BinaryFocalCrossentropy(
               {.apply_class_balancing = true, .alpha = 0.3, .gamma = 1.5, .label_smoothing = 0.1}),
           binary);
  run_loss("binary_focal_logits", keras::BinaryFocalCrossentropy({.from_logits = true}), binary_logits);
  run_loss("categorical", keras::CategoricalCrossentropy(), classes);
  run_loss("categorical_logits", keras::CategoricalCrossentropy({.from_logits = true}),
           weighted(class_logits, by_example));
  run_loss("categorical_smoothed",
           keras::CategoricalCrossentropy({.from_logits = true, .label_smoothing = 0.2}), class_logits);
  run_loss("categorical_axis", keras::CategoricalCrossentropy({.from_logits = true, .axis = 1}),
           {transpose(hot({4, 2}, 5), {0, 2, 1}), wave({4, 5, 2}, 2)});
  run_loss("categorical_of_softmax", keras::CategoricalCrossentropy(), class_logits,
           [](const Tensor& p) { return keras::activations::softmax(p); });
  run_loss("categorical_focal", keras::CategoricalFocalCrossentropy(), classes);
  run_loss("categorical_focal_logits",
           keras::CategoricalFocalCrossentropy(
               {.alpha = 0.5, .gamma = 1.0, .from_logits = true, .label_smoothing = 0.1}),
           class_logits);
  run_loss("categorical_generalized", keras::CategoricalGeneralizedCrossEntropy({.q = 0.7}), sparse);
  run_loss("sparse", keras::SparseCategoricalCrossentropy(), sparse);
  run_loss("sparse_logits", keras::SparseCategoricalCrossentropy({.from_logits = true}), sparse_logits);
  run_loss("sparse_weighted", keras::SparseCategoricalCrossentropy({.from_logits = true}),
           weighted(sparse_logits, by_example));
  run_loss("sparse_column", keras::SparseCategoricalCrossentropy({.from_logits = true}),
           {ids({4, 1}, 5), wave({4, 5}, 2, 3.0)});
  run_loss("sparse_steps", keras::SparseCategoricalCrossentropy({.from_logits = true}),
           masked({ids({4, 3}, 5), wave({4, 3, 5}, 2, 3.0)}, ids({4, 3}, 2) > 0));
  run_loss("sparse_ignore", keras::SparseCategoricalCrossentropy({.from_logits = true, .ignore_class = 2}),
           weighted(sparse_logits, by_example));
  run_loss("sparse_of_softmax", keras::SparseCategoricalCrossentropy(), sparse_logits,
           [](const Tensor& p) { return keras::activations::softmax(p); });
  run_loss("dice", keras::Dice(), binary);
  run_loss("dice_axis", keras::Dice({.axis = {1}}), binary);
  run_loss("tversky", keras::Tversky({.alpha = 0.3, .beta = 0.7}), binary);
  run_loss("tversky_axis", keras::Tversky({.axis = {1}}), binary);
  // Labels twice in a row, of full length, none at all; 12 steps written out, 40 as a loop.
  const Tensor labels =
      constant(std::vector<int32_t>{1, 1, 2, 3, 2, 4, 0, 0, 3, 1, 4, 2, 0, 0, 0, 0}, {4, 4});
  for (const int64_t time : {12, 40}) {
    const std::string name = "ctc_" + std::to_string(time);
    run_loss(name, keras::CTC(), {labels, wave({4, time, 5}, 2, 3.0)});
    run_loss(name + "_weighted", "ctc", weighted({labels, wave({4, time, 5}, 3, 1.0)}, by_example));
  }
  run_loss("circle", keras::Circle({.gamma = 4.0}), {ids({6}, 2), math::l2_normalize(wave({6, 3}, 2), 1)});
}

}  // namespace rw::interop
