// What compile, fit, evaluate and predict take and give. The methods are Model's.
//
//   model.compile({.optimizer = keras::Adam(), .loss = "sparse_categorical_crossentropy",
//                  .metrics = {"accuracy"}});
//   auto history = model.fit(x, y, {.batch_size = 100, .epochs = 10, .validation_split = 0.1});
#pragma once

#include <map>
#include <optional>
#include <variant>

#include "rewind/keras/callbacks.h"
#include "rewind/keras/loss.h"
#include "rewind/keras/metric.h"
#include "rewind/keras/optimizer.h"
#include "rewind/tensor/tensor.h"

namespace rw::keras {

// One tensor or several: the inputs of a model, its targets.
class Arrays {
 public:
  Arrays() = default;
  Arrays(const Tensor& one) : list_({one}) {}                   // NOLINT: written as they are
  Arrays(std::initializer_list<Tensor> list) : list_(list) {}   // NOLINT
  Arrays(std::vector<Tensor> list) : list_(std::move(list)) {}  // NOLINT
  const std::vector<Tensor>& list() const { return list_; }
  bool empty() const { return list_.empty(); }

 private:
  std::vector<Tensor> list_;
};

// What a step works on.
struct Batch {
  std::vector<Tensor> x, y;
  Tensor sample_weight = {};  // undefined: all count the same
};
// Values by name that a step gives.
using StepLogs = std::vector<std::pair<std::string, Tensor>>;

// A metric, or a name whose meaning follows from the shapes of targets and predictions ("accuracy").
class MetricChoice {
 public:
  MetricChoice(const char* name) : MetricChoice(std::string(name)) {}  // NOLINT: written as they are
  MetricChoice(const std::string& name);                               // NOLINT
  template <class M>
    requires std::is_convertible_v<const M&, Metric>
  MetricChoice(const M& metric) : metric_(Metric(metric)) {}  // NOLINT
  Metric for_shapes(const Shape& y_true, const Shape& y_pred) const;
  // Empty for a metric that was given itself.
  const std::string& name() const { return name_; }
  const std::optional<Metric>& metric() const { return metric_; }

 private:
  std::string name_;
  std::optional<Metric> metric_;
};

// One loss for all outputs, or one an output (an empty one: none).
class Losses {
 public:
  Losses() = default;
  template <class L>
    requires std::is_convertible_v<const L&, Loss>
  Losses(const L& loss) : list_({Loss(loss)}) {}                           // NOLINT: written as they are
  Losses(std::initializer_list<Loss> list) : list_(list), each_(true) {}   // NOLINT
  Losses(std::vector<Loss> list) : list_(std::move(list)), each_(true) {}  // NOLINT
  bool empty() const { return list_.empty(); }
  const std::vector<Loss>& list() const { return list_; }
  bool one_for_all() const { return !each_; }
  // Throws InvalidArgumentError if there are neither one nor so many.
  std::vector<Loss> for_outputs(size_t count) const;

 private:
  std::vector<Loss> list_;
  bool each_ = false;
};

struct CompileOptions {
  Optimizer optimizer = "rmsprop";
  Losses loss = {};
  std::vector<double> loss_weights = {};  // one an output
  // Of a model with several outputs: one metric for each, or in output_metrics a list for each.
  std::vector<MetricChoice> metrics = {};
  std::vector<MetricChoice> weighted_metrics = {};  // these take the sample weights into account
  std::vector<std::vector<MetricChoice>> output_metrics = {};
  std::vector<std::vector<MetricChoice>> output_weighted_metrics = {};
  bool run_eagerly = false;   // steps run as plain C++, for debuggers
  bool jit = true;            // false: op by op, as run_eagerly
  int64_t memory_budget = 0;  // of a training step, in bytes: see FunctionOptions
  // The optimizer of a model whose policy is mixed_float16 is put into a LossScaleOptimizer.
  bool auto_scale_loss = true;
};

struct ValidationData {
  Arrays x, y;
  Tensor sample_weight = {};
};

struct FitOptions {
  int64_t batch_size = 32;
  int epochs = 1;
  int verbose = 1;  // 0: silent, 1: a progress bar, 2: a line an epoch
  std::vector<CallbackRef> callbacks = {};
  double validation_split = 0.0;  // the last part of the arrays, not trained on
  std::optional<ValidationData> validation_data = {};
  bool shuffle = true;                          // arrays, anew in each epoch
  std::map<int64_t, double> class_weight = {};  // of targets that are classes; others count 1
  Tensor sample_weight = {};                    // one an example
  int initial_epoch = 0;
  // Goes on in the middle of an epoch, from History::position or a callback's host().position(), of a fit
  // with the same data and options. The variables must be as they were. Throws InvalidArgumentError for a
  // position that this training cannot have reached.
  std::optional<TrainingPosition> resume_from = {};
  int64_t steps_per_epoch = 0;  // 0: until the data ends
  int64_t validation_steps = 0;
  int64_t validation_batch_size = 0;  // 0: batch_size
  int validation_freq = 1;            // after every so many epochs
  // SIGINT (Ctrl-C) ends training after the step at hand; the program's own handler is called too. false:
  // fit leaves signals alone.
  bool stop_on_interrupt = true;
};

struct EvaluateOptions {
  int64_t batch_size = 32;
  int verbose = 1;
  Tensor sample_weight = {};
  int64_t steps = 0;
  std::vector<CallbackRef> callbacks = {};
};

struct PredictOptions {
  int64_t batch_size = 32;
  int verbose = 1;
  int64_t steps = 0;
  std::vector<CallbackRef> callbacks = {};
};

}  // namespace rw::keras
