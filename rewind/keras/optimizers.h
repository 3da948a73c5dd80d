// The optimizers, with Keras' names, defaults and arithmetic. Steps with sparse gradients do what Keras does:
// a row that is named twice counts twice in sums, also of squares.
#pragma once

#include "rewind/keras/optimizer.h"

namespace rw::keras {
inline namespace optimizers {

struct SGDOptions {
  LearningRate learning_rate = 0.01;
  double momentum = 0.0;
  bool nesterov = false;
  std::optional<double> weight_decay = {};
  RW_KERAS_OPTIMIZER_OPTIONS
};
// m = momentum m - lr g; w += m (Nesterov: w += momentum m - lr g)
class SGD : public Optimizer {
 public:
  explicit SGD(const SGDOptions& options = {});
};

struct AdamOptions {
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  bool amsgrad = false;
  std::optional<double> weight_decay = {};
  RW_KERAS_OPTIMIZER_OPTIONS
};
// m += (g - m)(1 - beta_1); v += (g^2 - v)(1 - beta_2);
// w -= lr sqrt(1 - beta_2^t) / (1 - beta_1^t) m / (sqrt(v) + epsilon); amsgrad takes the largest v so far
class Adam : public Optimizer {
 public:
  explicit Adam(const AdamOptions& options = {});
};

struct AdamWOptions {
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  bool amsgrad = false;
  std::optional<double> weight_decay = 0.004;
  RW_KERAS_OPTIMIZER_OPTIONS
};
// Adam after w -= lr weight_decay w.
class AdamW : public Optimizer {
 public:
  explicit AdamW(const AdamWOptions& options = {});
};

struct AdamaxOptions {
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  std::optional<double> weight_decay = {};
  RW_KERAS_OPTIMIZER_OPTIONS
};
// m += (g - m)(1 - beta_1); u = max(beta_2 u, |g|); w -= lr m / ((1 - beta_1^t)(u + epsilon))
class Adamax : public Optimizer {
 public:
  explicit Adamax(const AdamaxOptions& options = {});
};

using NadamOptions = AdamaxOptions;
// Adam with Nesterov's momentum.
class Nadam : public Optimizer {
 public:
  explicit Nadam(const NadamOptions& options = {});
};

struct RMSpropOptions {
  LearningRate learning_rate = 0.001;
  double rho = 0.9;
  double momentum = 0.0;
  double epsilon = 1e-7;
  bool centered = false;
  std::optional<double> weight_decay = {};
  RW_KERAS_OPTIMIZER_OPTIONS
};
// v = rho v + (1 - rho) g^2; w -= lr g / sqrt(v + epsilon), through momentum if there is one; centered
// subtracts the square of the mean gradient from v
class RMSprop : public Optimizer {
 public:
  explicit RMSprop(const RMSpropOptions& options = {});
};

struct AdagradOptions {
  LearningRate learning_rate = 0.001;
  double initial_accumulator_value = 0.1;
  double epsilon = 1e-7;
  std::optional<double> weight_decay = {};
  RW_KERAS_OPTIMIZER_OPTIONS
};
// a += g^2; w -= lr g / sqrt(a + epsilon)
class Adagrad : public Optimizer {
 public:
  explicit Adagrad(const AdagradOptions& options = {});
};

struct AdadeltaOptions {
  LearningRate learning_rate = 0.001;
  double rho = 0.95;
  double epsilon = 1e-7;
  std::optional<double> weight_decay = {};
  RW_KERAS_OPTIMIZER_OPTIONS
};
// a = rho a + (1 - rho) g^2; d = sqrt(b + epsilon) / sqrt(a + epsilon) g; b = rho b + (1 - rho) d^2; w -= lr
// d
class Adadelta : public Optimizer {
 public:
  explicit Adadelta(const AdadeltaOptions& options = {});
};

struct FtrlOptions {
  LearningRate learning_rate = 0.001;
  double learning_rate_power = -0.5;
  double initial_accumulator_value = 0.1;
  double l1_regularization_strength = 0.0;
  double l2_regularization_strength = 0.0;
  double l2_shrinkage_regularization_strength = 0.0;
  double beta = 0.0;
  std::optional<double> weight_decay = {};
  RW_KERAS_OPTIMIZER_OPTIONS
};
// Follow the regularised leader.
class Ftrl : public Optimizer {
 public:
  explicit Ftrl(const FtrlOptions& options = {});
};

struct LionOptions {
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9;
  double beta_2 = 0.99;
  std::optional<double> weight_decay = {};
  RW_KERAS_OPTIMIZER_OPTIONS
};
// w -= lr sign(beta_1 m + (1 - beta_1) g); m = beta_2 m + (1 - beta_2) g
class Lion : public Optimizer {
 public:
  explicit Lion(const LionOptions& options = {});
};

// By Keras' name in small letters ("adam", "rmsprop"), with its defaults; throws InvalidArgumentError for
// others.
Optimizer get(const std::string& name);

}  // namespace optimizers
}  // namespace rw::keras
