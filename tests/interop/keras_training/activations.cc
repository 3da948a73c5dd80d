#include "rewind/keras/activations.h"

#include "rewind/keras/constraints.h"
#include "rewind/keras/regularizers.h"
#include "tests/interop/keras_training/cases.h"

namespace rw::interop {
namespace {

using namespace rw::keras;  // NOLINT: a program of its own

// Values and gradients of their weighted sum.
void run_activation(const std::string& name, const Activation& f) {
  run("activation_" + name, [&] {
    const auto traced = function([&](const Tensor& x) {
      GradientTape tape;
      tape.watch(x);
      const Tensor y = f(x);
      const Tensor sum = reduce_sum(y * wave(y.shape(), 5));
      return std::vector<Tensor>{y, tape.gradient(sum, x)};
    });
    return traced(wave({3, 6}, 1, 4.0));
  });
}

}  // namespace

void run_activations() {
  for (const char* name :
       {"linear",         "relu",         "leaky_relu",  "relu6",       "softmax",     "log_softmax",
        "sparsemax",      "elu",          "selu",        "celu",        "softplus",    "softsign",
        "squareplus",     "soft_shrink",  "hard_shrink", "sparse_plus", "silu",        "swish",
        "gelu",           "glu",          "tanh",        "tanh_shrink", "hard_tanh",   "sigmoid",
        "sparse_sigmoid", "hard_sigmoid", "hard_silu",   "hard_swish",  "exponential", "mish",
        "log_sigmoid"})
    run_activation(name, name);
  run_activation("relu_slope", [](const Tensor& x) { return activations::relu(x, {.negative_slope = 0.1}); });
  run_activation("relu_all", [](const Tensor& x) {
    return activations::relu(x, {.negative_slope = 0.1, .max_value = 2.0, .threshold = 0.5});
  });
  run_activation("relu_six", [](const Tensor& x) { return activations::relu(x, {.max_value = 6.0}); });
  run_activation("elu_alpha", [](const Tensor& x) { return activations::elu(x, 0.5); });
  run_activation("celu_alpha", [](const Tensor& x) { return activations::celu(x, 0.5); });
  run_activation("gelu_approximate", [](const Tensor& x) { return activations::gelu(x, true); });
  run_activation("threshold", [](const Tensor& x) { return activations::threshold(x, 0.5, -2.0); });
  run_activation("softmax_axis", [](const Tensor& x) { return activations::softmax(x, 0); });

  const Tensor w = wave({4, 3}, 1, 2.0);
  const auto run_regularizer = [&](const std::string& name, const Regularizer& f) {
    run("regularizer_" + name, [&] { return std::vector<Tensor>{f(w)}; });
  };
  run_regularizer("l1", "l1");
  run_regularizer("l2", "l2");
  run_regularizer("l1_l2", regularizers::L1L2({.l1 = 0.1, .l2 = 0.2}));
  run_regularizer("orthogonal", "orthogonal_regularizer");
  run_regularizer("orthogonal_columns",
                  regularizers::OrthogonalRegularizer({.factor = 0.1, .mode = "columns"}));
  const auto run_constraint = [&](const std::string& name, const Constraint& f) {
    run("constraint_" + name, [&] { return std::vector<Tensor>{f(w)}; });
  };
  run_constraint("max_norm", "max_norm");
  run_constraint("max_norm_axis", constraints::MaxNorm({.max_value = 1.0, .axis = {1}}));
  run_constraint("non_neg", "non_neg");
  run_constraint("unit_norm", "unit_norm");
  run_constraint("min_max_norm", constraints::MinMaxNorm({.min_value = 1.0, .max_value = 1.5, .rate = 0.5}));
}

}  // namespace rw::interop
