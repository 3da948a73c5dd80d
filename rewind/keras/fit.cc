// Model: fit, the loop around the steps, and what it tells callbacks.
#include <algorithm>
#include <cmath>
#include <map>

#include "rewind/base/error.h"
#include "rewind/base/number_text.h"
#include "rewind/keras/batch_source.h"
#include "rewind/keras/interrupt.h"
#include "rewind/keras/layer_state.h"
#include "rewind/keras/model_host.h"
#include "rewind/keras/resume.h"
#include "rewind/keras/watch_training.h"
#include "rewind/tensor/ops/gather.h"
#include "rewind/tensor/ops/reduce.h"
#include "rewind/tensor/ops/shape.h"
#include "rewind/tensor/ops/unary.h"

namespace rw::keras {
namespace {

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

// An epoch that is resumed in its middle goes on with the rate that it had there, whatever callbacks set at
// its beginning.
void begin_epoch(CallbackList& callbacks, int epoch, int64_t step, const Optimizer& optimizer) {
  std::vector<std::pair<Variable, Tensor>> rates;
  if (step > 0)
    for (const Optimizer::OwnVariable& v : optimizer.own_variables())
      if (v.name == "learning_rate") rates.emplace_back(v.variable, v.variable.value());
  Logs nothing;
  callbacks.on_epoch_begin(epoch, nothing);
  for (const auto& [variable, rate] : rates) variable.assign(rate);
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
  ModelHost host(this, &t);
  const Hosting hosting(t, &host);
  CallbackList callbacks = listeners(options.callbacks, options.verbose);
  const auto history = std::make_shared<History>();
  callbacks.add(history);
  const WatchTraining watch(callbacks, &host, {options.verbose, options.epochs, steps});
  std::optional<InterruptScope> interrupts;
  if (options.stop_on_interrupt) interrupts.emplace();
  TrainingPosition begin{options.initial_epoch};
  int epoch = begin.epoch;
  int64_t step = 0;   // steps of the epoch that were made
  bool open = false;  // a pass that steps_per_epoch cut goes on in the next epoch
  host.begin_at = [&](const TrainingPosition& at) {
    check_position(at, options, steps);
    if (!at.data.empty()) training.start_at(at.data, {at.epoch, at.step, options.steps_per_epoch});
    restore_weights(at, trainable_weights());
    begin = at;
    epoch = at.epoch;
    step = at.step;
    open = !at.data.empty();
  };
  if (options.resume_from) host.begin_at(*options.resume_from);
  std::optional<TrainingPosition> stopped;  // in the middle of an epoch
  std::vector<Tensor> unaveraged;
  Logs logs;
  host.where = [&] {
    TrainingPosition at = stopped ? *stopped : TrainingPosition{epoch, step, training.position()};
    if (!stopped && step > 0) {
      at.metrics = t.metric_values();
      at.logs = logs.items();
    }
    at.weights = unaveraged;
    at.callbacks = save_states(callbacks);
    return at;
  };
  bool interrupted = false;
  callbacks.on_train_begin(logs);
  host.begin_at = nullptr;
  load_states(callbacks, begin.callbacks);
  while (epoch < options.epochs && !host.stop_training) {
    t.reset_metrics();
    Logs nothing;
    begin_epoch(callbacks, epoch, step, t.options.optimizer);
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
    if (!any && step > 0) {  // resumed behind the last step
      if (counted) logs = metric_logs(t);
      else
        for (const auto& [name, value] : begin.logs) logs.set(name, value);
    }
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

}  // namespace rw::keras
