#include "rewind/keras/trainer.h"

#include <algorithm>
#include <map>

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
  std::vector<std::pair<size_t, Tensor>> each;  // by output
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
    each.emplace_back(i, loss);
    if (!options.loss_weights.empty()) loss = loss * options.loss_weights[i];
    total = total.defined() ? total + loss : loss;
  }
  if (each.size() > 1) {
    for (size_t k = output_losses_.size(); k < each.size(); ++k) {
      const size_t i = each[k].first;
      const std::string& name = i < loss_names.size() ? loss_names[i] : losses[i].given_name();
      output_losses_.push_back(metrics::Mean({.name = name + "_loss"}));
    }
    const Tensor count = cast(rw::shape(batch.x.at(0))[0], DType::kFloat32);
    for (size_t k = 0; k < each.size(); ++k) output_losses_[k].update_state(each[k].second, count);
  }
  return total;
}

void Trainer::note_loss(const Tensor& loss, const Batch& batch) {
  loss_.update_state(loss, cast(rw::shape(batch.x.at(0))[0], DType::kFloat32));
}

std::vector<MetricChoice> Trainer::choices(const std::vector<MetricChoice>& given, const char* what, size_t i,
                                           size_t outputs) const {
  if (outputs == 1 || given.empty()) return given;
  if (given.size() != outputs)
    fail_invalid("compile", std::string(what) + " of a model with " + std::to_string(outputs) +
                                " outputs must have one metric for each: got " +
                                std::to_string(given.size()) + "; output_" + what + " takes a list for each");
  return {given[i]};
}

void Trainer::find_metrics(const Batch& batch, const std::vector<Tensor>& y_pred) {
  if (found_) return;
  const size_t outputs = y_pred.size();
  const auto check_lists = [&](const char* what, const std::vector<std::vector<MetricChoice>>& lists) {
    if (!lists.empty() && lists.size() != outputs)
      fail_invalid("compile", std::string(what) + " must have one list for each of the model's " +
                                  std::to_string(outputs) + " outputs: got " + std::to_string(lists.size()));
  };
  check_lists("output_metrics", options.output_metrics);
  check_lists("output_weighted_metrics", options.output_weighted_metrics);
  std::vector<OutputMetrics> found;
  for (size_t i = 0; i < outputs; ++i) {
    OutputMetrics of;
    const Shape truth = i < batch.y.size() ? batch.y[i].shape() : Shape();
    auto add = [&](const std::vector<MetricChoice>& list, std::vector<Metric>* to) {
      for (const MetricChoice& c : list) to->push_back(c.for_shapes(truth, y_pred[i].shape()));
    };
    if (!options.output_metrics.empty()) add(options.output_metrics[i], &of.plain);
    add(choices(options.metrics, "metrics", i, outputs), &of.plain);
    if (!options.output_weighted_metrics.empty()) add(options.output_weighted_metrics[i], &of.weighted);
    add(choices(options.weighted_metrics, "weighted_metrics", i, outputs), &of.weighted);
    found.push_back(std::move(of));
  }
  outputs_ = std::move(found);
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

// Keras' rule: metrics of one of several outputs begin with its name; a name that is taken gets a number,
// that of a weighted metric "weighted_" first.
std::vector<std::pair<std::string, Metric>> Trainer::named_metrics() const {
  std::vector<std::pair<std::string, Metric>> list{{"loss", loss_}};
  std::map<std::string, int> taken;
  auto add = [&](std::string name, const std::string& if_taken, const Metric& m) {
    if (taken.contains(name)) name = if_taken;
    const int count = taken[name]++;
    list.emplace_back(count == 0 ? name : name + "_" + std::to_string(count), m);
  };
  auto prefix = [&](size_t output) {
    return outputs_.size() > 1 && output < output_names.size() ? output_names[output] + "_" : std::string();
  };
  for (size_t i = 0; i < outputs_.size(); ++i)
    for (const Metric& m : outputs_[i].plain) add(prefix(i) + m.name(), prefix(i) + m.name(), m);
  for (size_t i = 0; i < outputs_.size(); ++i)
    for (const Metric& m : outputs_[i].weighted)
      add(prefix(i) + m.name(), prefix(i) + "weighted_" + m.name(), m);
  for (const Metric& m : output_losses_) list.emplace_back(m.name(), m);
  return list;
}

std::vector<Metric> Trainer::metrics() const {
  std::vector<Metric> list;
  for (const auto& [name, metric] : named_metrics()) list.push_back(metric);
  return list;
}

Direction Trainer::direction(const std::string& name) const {
  Direction found = Direction::kUnknown;
  for (const auto& [known, metric] : named_metrics())
    if (known == name) found = metric.direction();
  return found;
}

StepLogs Trainer::results() const {
  StepLogs logs;
  for (const auto& [name, metric] : named_metrics()) {
    const auto same = std::find_if(logs.begin(), logs.end(), [&](const auto& l) { return l.first == name; });
    if (same == logs.end()) logs.emplace_back(name, metric.result());
    else same->second = metric.result();
  }
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
