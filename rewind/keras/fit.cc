// Model: the loops around the steps, and what they tell callbacks.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "rewind/base/error.h"
#include "rewind/base/number_text.h"
#include "rewind/keras/batch_source.h"
#include "rewind/keras/interrupt.h"
#include "rewind/keras/layer_state.h"
#include "rewind/keras/model.h"
#include "rewind/keras/progress_bar.h"
#include "rewind/keras/resume.h"
#include "rewind/keras/trainer.h"
#include "rewind/keras/watch_training.h"
#include "rewind/tensor/ops/gather.h"
#include "rewind/tensor/ops/reduce.h"
#include "rewind/tensor/ops/shape.h"
#include "rewind/tensor/ops/unary.h"

namespace rw::keras {
namespace {

// What callbacks see of a model.
class Host : public TrainingHost {
 public:
  Host(Model* model, Trainer* trainer) : model_(model), trainer_(trainer) {}
  std::vector<Tensor> get_weights() const override { return model_->get_weights(); }
  void set_weights(const std::vector<Tensor>& weights) override { model_->set_weights(weights); }
  const Optimizer* optimizer() const override { return &trainer_->options.optimizer; }
  Direction direction(const std::string& metric) const override { return trainer_->direction(metric); }
  TrainingPosition position() const override { return where ? where() : TrainingPosition(); }

  std::function<TrainingPosition()> where;  // while fit runs

 private:
  Model* model_;
  Trainer* trainer_;
};

CallbackList listeners(const std::vector<CallbackRef>& given, int verbose) {
  CallbackList list(given);
  if (verbose > 0 && !list.find<ProgressBar>()) list.add(ProgressBar());
  return list;
}

// While fit runs the trainer knows its host, so that others can ask it to end.
class Hosting {
 public:
  Hosting(Trainer& trainer, TrainingHost* host) : trainer_(trainer) {
    const std::lock_guard lock(trainer_.mutex);
    before_ = std::exchange(trainer_.host, host);
  }
  ~Hosting() {
    const std::lock_guard lock(trainer_.mutex);
    trainer_.host = before_;
  }
  Hosting(const Hosting&) = delete;
  Hosting& operator=(const Hosting&) = delete;

 private:
  Trainer& trainer_;
  TrainingHost* before_ = nullptr;
};

// By name; converted when somebody looks.
Logs numbers(const std::vector<std::string>& names, const std::vector<Tensor>& values) {
  return Logs([names, values](Logs& logs) {
    std::vector<size_t> order(values.size());
    std::iota(order.begin(), order.end(), size_t(0));
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return names[a] < names[b]; });
    for (const size_t i : order) {
      const Tensor mean = values[i].rank() > 0 ? reduce_mean(cast(values[i], DType::kFloat32)) : values[i];
      logs.set(names[i], mean.dtype() == DType::kFloat32 ? double(mean.item<float>())
                                                         : cast(mean, DType::kFloat64).item<double>());
    }
  });
}

// By name too.
Logs with_validation(const Logs& logs, const Logs& held) {
  std::map<std::string, double> all;
  for (const auto& [name, value] : logs.items()) all[name] = value;
  for (const auto& [name, value] : held.items()) all["val_" + name] = value;
  Logs sorted;
  for (const auto& [name, value] : all) sorted.set(name, value);
  return sorted;
}

Logs metric_logs(const Trainer& trainer) {
  std::vector<std::string> names;
  std::vector<Tensor> values;
  for (const auto& [name, value] : trainer.results()) {
    names.push_back(name);
    values.push_back(value);
  }
  return numbers(names, values);
}

// Weights of examples by the class of their target.
Tensor class_weights(const std::map<int64_t, double>& by_class, const Batch& batch) {
  if (batch.sample_weight.defined())
    fail_invalid("fit",
                 "class_weight and sample_weight cannot be given at the same time: the examples have weights "
                 "of their own already; multiply the two into one sample_weight");
  if (batch.y.size() != 1)
    fail_invalid("fit", "class_weight is only supported for models with a single output");
  Tensor y = batch.y[0];
  if (y.rank() > 1 && y.shape().back() > 1) y = argmax(y, -1);
  y = reshape(cast(y, DType::kInt64), {-1});
  std::vector<float> weights;
  for (const int64_t c : y.to_vector<int64_t>()) {
    const auto found = by_class.find(c);
    weights.push_back(found == by_class.end() ? 1.0f : float(found->second));
  }
  return constant(weights);
}

std::vector<Tensor> joined(std::vector<std::vector<Tensor>> parts) {
  std::vector<Tensor> results;
  for (size_t i = 0; !parts.empty() && i < parts[0].size(); ++i) {
    std::vector<Tensor> list;
    for (const std::vector<Tensor>& p : parts) list.push_back(p[i]);
    results.push_back(list.size() == 1 ? list[0] : concat(list, 0));
  }
  return results;
}

void refuse_sample_weight(const char* tag, const Tensor& weights) {
  if (weights.defined())
    fail_invalid(tag,
                 "sample_weight goes with arrays; a dataset has the weights in its elements: (x, y, "
                 "sample_weight)");
}

int64_t shorter(int64_t steps, int64_t limit) {
  return limit > 0 && (steps < 0 || limit < steps) ? limit : steps;
}

}  // namespace

History Model::fit(const Arrays& x, const Arrays& y, const FitOptions& options) {
  ArrayBatches all{x.list(), y.list(), options.sample_weight, options.batch_size};
  const int64_t rows = rows_of(all);
  all.end = rows;
  all.shuffle = options.shuffle;
  const int64_t validation_batch =
      options.validation_batch_size > 0 ? options.validation_batch_size : options.batch_size;
  std::unique_ptr<BatchSource> validation;
  if (options.validation_data) {
    ArrayBatches held{options.validation_data->x.list(), options.validation_data->y.list(),
                      options.validation_data->sample_weight, validation_batch};
    held.end = rows_of(held);
    validation = batches_of(held);
  } else if (options.validation_split > 0) {
    if (options.validation_split >= 1)
      fail_invalid("fit",
                   "validation_split must be between 0 and 1: got " + number_text(options.validation_split));
    ArrayBatches held = all;
    held.shuffle = false;
    held.batch_size = validation_batch;
    all.end = int64_t(std::floor(double(rows) * (1.0 - options.validation_split)));
    held.begin = all.end;
    if (all.end == 0 || held.begin == rows)
      fail_invalid("fit", "validation_split=" + number_text(options.validation_split) + " of " +
                              std::to_string(rows) + " examples leaves nothing on one side");
    validation = batches_of(held);
  }
  return fit_on(*batches_of(all), validation.get(), options);
}

History Model::fit(const data::Dataset& dataset, const FitOptions& options) {
  refuse_sample_weight("fit", options.sample_weight);
  return fit_on(*batches_of(dataset, input_count(), output_count()), nullptr, options);
}
History Model::fit(const data::Dataset& dataset, const data::Dataset& validation, const FitOptions& options) {
  refuse_sample_weight("fit", options.sample_weight);
  return fit_on(*batches_of(dataset, input_count(), output_count()),
                batches_of(validation, input_count(), output_count()).get(), options);
}

History Model::fit_on(BatchSource& training, BatchSource* validation, const FitOptions& options) {
  const std::lock_guard turn(layer_state()->training);
  trainer();
  const std::shared_ptr<TrainerSteps> compiled = make_steps();
  const std::shared_ptr<Trainer> kept = layer_state()->trainer_now();  // a callback may compile anew
  Trainer& t = *kept;
  const int64_t steps = shorter(training.steps(), options.steps_per_epoch);
  const TrainingPosition begin = options.resume_from.value_or(TrainingPosition{options.initial_epoch});
  if (options.resume_from) check_position(begin, options, steps);
  Host host(this, &t);
  const Hosting hosting(t, &host);
  CallbackList callbacks = listeners(options.callbacks, options.verbose);
  const auto history = std::make_shared<History>();
  callbacks.add(history);
  const WatchTraining watch(callbacks, &host, {options.verbose, options.epochs, steps});
  std::optional<InterruptScope> interrupts;
  if (options.stop_on_interrupt) interrupts.emplace();
  int epoch = begin.epoch;
  int64_t step = begin.step;  // steps of the epoch that were made
  bool open = false;          // a pass that steps_per_epoch cut goes on in the next epoch
  if (!begin.data.empty()) {
    training.start_at(begin.data, {begin.epoch, begin.step, options.steps_per_epoch});
    open = true;
  }
  restore_weights(begin, trainable_weights());
  std::optional<TrainingPosition> stopped;  // in the middle of an epoch
  std::vector<Tensor> unaveraged;
  host.where = [&] {
    TrainingPosition at = stopped ? *stopped
                                  : TrainingPosition{epoch, step, training.position(),
                                                     step > 0 ? t.metric_values() : std::vector<Tensor>()};
    at.weights = unaveraged;
    return at;
  };
  bool interrupted = false;
  Logs logs;
  callbacks.on_train_begin(logs);
  while (epoch < options.epochs && !host.stop_training) {
    t.reset_metrics();
    Logs nothing;
    callbacks.on_epoch_begin(epoch, nothing);
    bool counted = step == 0 || t.set_metric_values(begin.metrics);
    if (step == 0 && (!open || options.steps_per_epoch <= 0)) training.start();
    open = true;
    Batch batch;
    auto next_batch = [&](bool first) {
      if (training.next(&batch)) return true;
      open = false;
      if (!first || options.steps_per_epoch <= 0) return false;
      training.start();  // the pass ended with the epoch before
      return open = training.next(&batch);
    };
    bool any = false;
    while (options.steps_per_epoch <= 0 || step < options.steps_per_epoch) {
      if (!next_batch(step == 0)) break;
      build_from(batch);
      if (!options.class_weight.empty()) batch.sample_weight = class_weights(options.class_weight, batch);
      if (!counted) {  // a model made anew has no metrics before its first step
        make_metrics(batch);
        counted = t.set_metric_values(begin.metrics);
        if (!counted) fail_position("it holds the state of other metrics");
      }
      callbacks.on_train_batch_begin(step, nothing);
      const std::vector<Tensor> values = compiled->train(batch);
      logs = numbers(compiled->train_names, values);
      any = true;
      callbacks.on_train_batch_end(step++, logs);
      interrupted = InterruptScope::interrupted();
      if (interrupted) host.stop_training = true;
      if (host.stop_training) break;
    }
    if (!any && step > 0) logs = metric_logs(t);  // resumed behind the last step
    if (!any && logs.empty()) fail_invalid("fit", "the data has no batches");
    const bool whole = !host.stop_training || (steps > 0 && step >= steps);
    if (!whole) stopped = host.where();
    if (validation && !interrupted && (epoch + 1) % options.validation_freq == 0) {
      const Logs held = evaluate_on(*validation, options.validation_steps, callbacks);
      if (InterruptScope::interrupted()) host.stop_training = true;  // numbers of a part would mislead
      else logs = with_validation(logs, held);
    }
    const int finished = epoch;
    if (whole) {
      ++epoch;
      step = 0;
    }
    callbacks.on_epoch_end(finished, logs);
    if (!whole) break;
  }
  const Optimizer& optimizer = t.options.optimizer;
  if (optimizer.built() && optimizer.keeps_averages()) {
    const std::vector<Variable> trained = trainable_weights();
    for (const Variable& v : trained) unaveraged.push_back(v.value());
    optimizer.finalize_variable_values(trained);
  }
  callbacks.on_train_end(logs);
  history->position = host.where();
  return *history;
}

Logs Model::evaluate_on(BatchSource& source, int64_t steps, CallbackList& callbacks) {
  const std::shared_ptr<TrainerSteps> compiled = make_steps();
  trainer().reset_metrics();
  Logs logs, nothing;
  callbacks.on_test_begin(nothing);
  source.start();
  Batch batch;
  for (int64_t step = 0; (steps <= 0 || step < steps) && source.next(&batch); ++step) {
    build_from(batch);
    callbacks.on_test_batch_begin(step, nothing);
    const std::vector<Tensor> values = compiled->test(batch);
    logs = numbers(compiled->test_names, values);
    callbacks.on_test_batch_end(step, logs);
    if (InterruptScope::interrupted()) break;  // inside of fit
  }
  callbacks.on_test_end(logs);
  return logs;
}

Logs Model::evaluate(const Arrays& x, const Arrays& y, const EvaluateOptions& options) {
  ArrayBatches all{x.list(), y.list(), options.sample_weight, options.batch_size};
  all.end = rows_of(all);
  trainer();
  return evaluate_alone(*batches_of(all), options);
}
Logs Model::evaluate(const data::Dataset& dataset, const EvaluateOptions& options) {
  trainer();
  refuse_sample_weight("evaluate", options.sample_weight);
  return evaluate_alone(*batches_of(dataset, input_count(), output_count()), options);
}
Logs Model::evaluate_alone(BatchSource& source, const EvaluateOptions& options) {
  const std::lock_guard turn(layer_state()->training);
  Host host(this, &trainer());
  CallbackList callbacks = listeners(options.callbacks, options.verbose);
  const WatchTraining watch(callbacks, &host, {options.verbose, 1, shorter(source.steps(), options.steps)});
  return evaluate_on(source, options.steps, callbacks);
}

std::vector<Tensor> Model::predict_on(BatchSource& source, const PredictOptions& options) {
  const std::shared_ptr<TrainerSteps> compiled = make_steps();
  const std::shared_ptr<Trainer> kept = layer_state()->trainer_now();
  Host host(this, kept.get());
  CallbackList callbacks = listeners(options.callbacks, options.verbose);
  const WatchTraining watch(callbacks, &host, {options.verbose, 1, shorter(source.steps(), options.steps)});
  Logs nothing;
  callbacks.on_predict_begin(nothing);
  source.start();
  std::vector<std::vector<Tensor>> parts;
  Batch batch;
  for (int64_t step = 0; (options.steps <= 0 || step < options.steps) && source.next(&batch); ++step) {
    callbacks.on_predict_batch_begin(step, nothing);
    batch.y.clear();
    batch.sample_weight = {};
    parts.push_back(compiled->predict(batch));
    callbacks.on_predict_batch_end(step, nothing);
  }
  callbacks.on_predict_end(nothing);
  return joined(std::move(parts));
}

std::vector<Tensor> Model::predict_all(const Arrays& x, const PredictOptions& options) {
  ArrayBatches all{x.list(), {}, {}, options.batch_size};
  all.end = rows_of(all);
  return predict_on(*batches_of(all), options);
}
std::vector<Tensor> Model::predict_all(const data::Dataset& dataset, const PredictOptions& options) {
  return predict_on(*batches_of(dataset, input_count(), output_count()), options);
}
Tensor Model::predict(const Arrays& x, const PredictOptions& options) {
  const std::vector<Tensor> results = predict_all(x, options);
  if (results.size() != 1)
    fail_invalid(name(), "model \"" + name() + "\" has " + std::to_string(results.size()) +
                             " outputs: predict_all(x) gives them all");
  return results[0];
}

Logs Model::train_on_batch(const Arrays& x, const Arrays& y, const Tensor& sample_weight) {
  const std::lock_guard turn(layer_state()->training);
  trainer();
  const std::shared_ptr<TrainerSteps> compiled = make_steps();
  build_from({x.list(), y.list()});
  trainer().reset_metrics();
  const std::vector<Tensor> values = compiled->train({x.list(), y.list(), sample_weight});
  return numbers(compiled->train_names, values);
}
Logs Model::test_on_batch(const Arrays& x, const Arrays& y, const Tensor& sample_weight) {
  const std::lock_guard turn(layer_state()->training);
  trainer();
  const std::shared_ptr<TrainerSteps> compiled = make_steps();
  build_from({x.list(), y.list()});
  trainer().reset_metrics();
  const std::vector<Tensor> values = compiled->test({x.list(), y.list(), sample_weight});
  return numbers(compiled->test_names, values);
}

}  // namespace rw::keras
