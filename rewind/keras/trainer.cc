#include "rewind/keras/trainer.h"

#include <algorithm>

#include "rewind/base/error_note.h"
#include "rewind/keras/call_context.h"
#include "rewind/keras/metrics.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/shape.h"
#include "rewind/tensor/ops/unary.h"

namespace rw::keras {
namespace {

bool has_open_meaning(const std::string& name) {
  return name == "accuracy" || name == "acc" || name == "crossentropy" || name == "ce";
}

Tensor mask_of(const Tensor& y_pred) {
  const CallContext* context = CallContext::current();
  return context ? context->mask_of(y_pred) : Tensor();
}

}  // namespace

MetricChoice::MetricChoice(const std::string& name) : name_(name) {
  if (has_open_meaning(name)) return;
  metric_ = Metric(name);
  metric_->rename(name);  // reported as it was asked for: "mae"
}

Metric MetricChoice::for_shapes(const Shape& y_true, const Shape& y_pred) const {
  if (metric_) return *metric_;
  const bool binary = y_pred.rank() < 2 || y_pred.back() == 1;
  const bool sparse = y_true.rank() < y_pred.rank() ||
                      (y_true.rank() == y_pred.rank() && y_true.back() == 1 && y_pred.back() > 1);
  const std::string kind = binary ? "binary" : sparse ? "sparse_categorical" : "categorical";
  const bool accuracy = name_ == "accuracy" || name_ == "acc";
  const Metric metric(kind + (accuracy ? "_accuracy" : "_crossentropy"));
  metric.rename(name_);
  return metric;
}

std::vector<Loss> Losses::for_outputs(size_t count) const {
  if (list_.size() == count) return list_;
  if (each_ || list_.empty())
    fail_invalid("compile", "the model has " + std::to_string(count) + " outputs, and there are " +
                                std::to_string(list_.size()) + " losses: give one for all, or one an output");
  return std::vector<Loss>(count, list_[0]);
}

Trainer::Trainer(const CompileOptions& given, bool was_compiled)
    : options(given), compiled(was_compiled), loss_({.name = "loss"}) {}

Tensor Trainer::loss_of(const Batch& batch, const std::vector<Tensor>& y_pred) {
  if (options.loss.empty()) return {};
  if (batch.y.size() != y_pred.size())
    fail_invalid("fit", "the model has " + std::to_string(y_pred.size()) +
                            " outputs, and there are targets for " + std::to_string(batch.y.size()));
  const std::vector<Loss> losses = options.loss.for_outputs(y_pred.size());
  if (!options.loss_weights.empty() && options.loss_weights.size() != y_pred.size())
    fail_invalid("compile", "loss_weights must have one number an output: there are " +
                                std::to_string(options.loss_weights.size()) + " for " +
                                std::to_string(y_pred.size()));
  Tensor total;
  std::vector<Tensor> each;
  for (size_t i = 0; i < y_pred.size(); ++i) {
    if (!losses[i]) continue;
    Tensor loss;
    try {
      loss = losses[i](batch.y[i], y_pred[i], batch.sample_weight, mask_of(y_pred[i]));
    } catch (const InvalidArgumentError& e) {
      throw_with_note(e,
                      "; in the loss " + losses[i].name() + ", which received targets " +
                          batch.y[i].shape().to_string() + " for outputs " + y_pred[i].shape().to_string(),
                      {"y_true"});
    }
    each.push_back(loss);
    if (!options.loss_weights.empty()) loss = loss * options.loss_weights[i];
    total = total.defined() ? total + loss : loss;
  }
  if (each.size() > 1) {
    for (size_t i = output_losses_.size(); i < each.size(); ++i) {
      const std::string name = i < output_names.size() ? output_names[i] : "output_" + std::to_string(i);
      output_losses_.push_back(metrics::Mean({.name = name + "_loss"}));
    }
    const Tensor count = cast(rw::shape(batch.x.at(0))[0], DType::kFloat32);
    for (size_t i = 0; i < each.size(); ++i) output_losses_[i].update_state(each[i], count);
  }
  return total;
}

void Trainer::note_loss(const Tensor& loss, const Batch& batch) {
  loss_.update_state(loss, cast(rw::shape(batch.x.at(0))[0], DType::kFloat32));
}

void Trainer::find_metrics(const Batch& batch, const std::vector<Tensor>& y_pred) {
  if (found_) return;
  for (size_t i = 0; i < y_pred.size(); ++i) {
    OutputMetrics of;
    const Shape truth = i < batch.y.size() ? batch.y[i].shape() : Shape();
    auto add = [&](const std::vector<MetricChoice>& choices, std::vector<Metric>* to) {
      for (const MetricChoice& c : choices) {
        const Metric m = c.for_shapes(truth, y_pred[i].shape());
        if (y_pred.size() > 1 && i < output_names.size()) m.rename(output_names[i] + "_" + m.name());
        to->push_back(m);
      }
    };
    if (i < options.output_metrics.size()) add(options.output_metrics[i], &of.plain);
    if (i == 0) {
      add(options.metrics, &of.plain);
      add(options.weighted_metrics, &of.weighted);
    }
    outputs_.push_back(std::move(of));
  }
  found_ = true;
}

void Trainer::update_metrics(const Batch& batch, const std::vector<Tensor>& y_pred) {
  find_metrics(batch, y_pred);
  for (size_t i = 0; i < outputs_.size() && i < batch.y.size(); ++i) {
    const Tensor mask = mask_of(y_pred[i]);
    for (const Metric& m : outputs_[i].plain) m.update_state(batch.y[i], y_pred[i], {}, mask);
    for (const Metric& m : outputs_[i].weighted)
      m.update_state(batch.y[i], y_pred[i], batch.sample_weight, mask);
  }
}

std::vector<Metric> Trainer::metrics() const {
  std::vector<Metric> list{loss_};
  list.insert(list.end(), output_losses_.begin(), output_losses_.end());
  for (const OutputMetrics& o : outputs_) {
    list.insert(list.end(), o.plain.begin(), o.plain.end());
    list.insert(list.end(), o.weighted.begin(), o.weighted.end());
  }
  return list;
}

StepLogs Trainer::results() const {
  StepLogs logs;
  for (const Metric& m : metrics()) logs.push_back({m.name(), m.result()});
  return logs;
}

std::vector<Tensor> Trainer::metric_values() const {
  std::vector<Tensor> values;
  for (const Metric& m : metrics())
    for (const Variable& v : m.variables()) values.push_back(v.value());
  return values;
}

bool Trainer::set_metric_values(const std::vector<Tensor>& values) {
  std::vector<Variable> variables;
  for (const Metric& m : metrics())
    for (const Variable& v : m.variables()) variables.push_back(v);
  if (variables.size() != values.size()) return false;
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i].dtype() != variables[i].dtype() || values[i].shape() != variables[i].shape()) return false;
  for (size_t i = 0; i < values.size(); ++i) variables[i].assign(values[i]);
  return true;
}

void Trainer::reset_metrics() {
  for (const Metric& m : metrics()) m.reset_state();
}

}  // namespace rw::keras
