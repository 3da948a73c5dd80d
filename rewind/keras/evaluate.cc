// Model: evaluate, predict and single steps.
#include "rewind/base/error.h"
#include "rewind/keras/batch_source.h"
#include "rewind/keras/interrupt.h"
#include "rewind/keras/layer_state.h"
#include "rewind/keras/model_host.h"
#include "rewind/keras/watch_training.h"
#include "rewind/tensor/ops/shape.h"

namespace rw::keras {
namespace {

std::vector<Tensor> joined(std::vector<std::vector<Tensor>> parts) {
  std::vector<Tensor> results;
  for (size_t i = 0; !parts.empty() && i < parts[0].size(); ++i) {
    std::vector<Tensor> list;
    for (const std::vector<Tensor>& p : parts) list.push_back(p[i]);
    results.push_back(list.size() == 1 ? list[0] : concat(list, 0));
  }
  return results;
}

}  // namespace

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
  ModelHost host(this, &trainer());
  CallbackList callbacks = listeners(options.callbacks, options.verbose);
  const WatchTraining watch(callbacks, &host, {options.verbose, 1, shorter(source.steps(), options.steps)});
  return evaluate_on(source, options.steps, callbacks);
}

std::vector<Tensor> Model::predict_on(BatchSource& source, const PredictOptions& options) {
  const std::shared_ptr<TrainerSteps> compiled = make_steps();
  const std::shared_ptr<Trainer> kept = layer_state()->trainer_now();
  ModelHost host(this, kept.get());
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
