#include "rewind/keras/metric.h"

#include "rewind/base/dynamic_type.h"
#include "rewind/base/error.h"
#include "rewind/keras/arithmetic.h"
#include "rewind/keras/mean_metrics.h"
#include "rewind/keras/metric_config.h"
#include "rewind/keras/metrics.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/creation.h"
#include "rewind/tensor/ops/reduce.h"
#include "rewind/tensor/ops/shape.h"
#include "rewind/tensor/trace.h"

namespace rw::keras {

void MetricState::update_values(const Tensor&, const Tensor&, const Tensor&) {
  fail_invalid(name_, "takes y_true and y_pred, not values");
}

void MetricState::reset() {
  for (const Variable& v : variables_) v.assign(zeros(v.shape(), v.dtype()));
}

Variable MetricState::add_variable(const Shape& shape, const std::string& name, DType dtype) {
  const OutsideTraces outside;
  variables_.emplace_back(zeros(shape, dtype),
                          VariableOptions{.trainable = false, .name = name_ + "/" + name});
  return variables_.back();
}

// ---- means and sums ---------------------------------------------------------------------------------------

namespace {

std::vector<int64_t> axes_between(int first, int last) {
  std::vector<int64_t> axes;
  for (int i = first; i < last; ++i) axes.push_back(i);
  return axes;
}

Tensor reduced(const Tensor& x, int first, bool mean) {
  const Axes axes(axes_between(first, x.rank()));
  return mean ? reduce_mean(x, axes) : reduce_sum(x, axes);
}

}  // namespace

Samplewise samplewise(const Tensor& all, const Tensor& sample_weight, const Tensor& mask, bool mean,
                      DType dtype) {
  Tensor values = as_type(all, dtype);
  Tensor weights;
  if (sample_weight.defined()) {
    weights = apply_mask(as_type(sample_weight, dtype), mask, dtype, "sum");
    std::tie(values, weights) = same_rank(values, weights);
    const int weight_rank = weights.rank();
    if (values.rank() > weight_rank) values = reduced(values, weight_rank, mean);
    weights = values.shape() == weights.shape() && values.shape().fully_known() ? weights
              : values.shape().fully_known() ? broadcast_to(weights, values.shape())
                                             : broadcast_to(weights, shape(values));
    values = values * weights;
    if (weight_rank > 1) weights = reduced(weights, 1, mean);
  }
  if (values.rank() > 1) values = reduced(values, 1, mean);
  return {values, weights};
}

MeanState::MeanState(std::string name, DType dtype, Direction direction)
    : MetricState(std::move(name), dtype, direction),
      total_(add_variable({}, "total", dtype)),
      count_(add_variable({}, "count", dtype)) {}

void MeanState::update(const Tensor&, const Tensor&, const Tensor&, const Tensor&) {
  fail_invalid(name(), "takes values, not y_true and y_pred");
}

void MeanState::update_values(const Tensor& all, const Tensor& sample_weight, const Tensor& mask) {
  const auto [values, weights] = samplewise(all, sample_weight, mask, true, dtype());
  total_.assign_add(reduce_sum(values));
  if (weights.defined()) count_.assign_add(reduce_sum(weights));
  else count_.assign_add(values.rank() ? element_count(values, dtype()) : scalar_tensor(1.0, dtype()));
}

Tensor MeanState::result() const { return math::divide_no_nan(total_, count_); }

namespace {

class SumState : public MetricState {
 public:
  SumState(std::string name, DType dtype)
      : MetricState(std::move(name), dtype), total_(add_variable({}, "total", dtype)) {}
  void update(const Tensor&, const Tensor&, const Tensor&, const Tensor&) override {
    fail_invalid(name(), "takes values, not y_true and y_pred");
  }
  void update_values(const Tensor& values, const Tensor& sample_weight, const Tensor& mask) override {
    total_.assign_add(reduce_sum(samplewise(values, sample_weight, mask, false, dtype()).values));
  }
  Tensor result() const override { return total_.value(); }

 private:
  Variable total_;
};

class FunctionState : public MeanState {
 public:
  FunctionState(std::string name, DType dtype, Direction direction, Loss::Call f)
      : MeanState(std::move(name), dtype, direction), f_(std::move(f)) {}
  void update(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight,
              const Tensor& mask) override {
    const LossValues out = f_(y_true, y_pred);
    update_values(out.values, apply_mask(sample_weight, mask, dtype(), "sum"), out.mask);
  }

 private:
  Loss::Call f_;
};

}  // namespace

Metric::Metric(const char* name) : Metric(metrics::get(name)) {}
Metric::Metric(const std::string& name) : Metric(metrics::get(name)) {}
Metric::Metric(const Loss& loss)
    : Metric(of_function([loss](const Tensor& y, const Tensor& p) { return loss.call(y, p); },
                         {.name = loss.name()}, Direction::kDown)) {}

Metric Metric::of_function(Loss::Call f, const MetricOptions& o, Direction direction,
                           const std::string& default_name) {
  return Metric(std::make_shared<FunctionState>(o.name.empty() ? default_name : o.name, o.dtype, direction,
                                                std::move(f)));
}

namespace metrics {

RW_KERAS_METRIC_ARGUMENTS(ValueArguments)
template <class M>
static void fields(ConfigFields& f, ValueArguments<M, MetricOptions>& a) {
  common_fields(f, a.options);
}
void add_value_metrics(ClassRegistry& r) {
  add_class<ValueArguments<Mean, MetricOptions>>(r.metrics);
  add_class<ValueArguments<Sum, MetricOptions>>(r.metrics);
}

Mean::Mean(const MetricOptions& o)
    : ValueMetric(
          std::make_shared<MeanState>(o.name.empty() ? "mean" : o.name, o.dtype, Direction::kUnknown)) {
  set_origin(origin_of(ValueArguments<Mean, MetricOptions>{o}));
}
Sum::Sum(const MetricOptions& o)
    : ValueMetric(std::make_shared<SumState>(o.name.empty() ? "sum" : o.name, o.dtype)) {
  set_origin(origin_of(ValueArguments<Sum, MetricOptions>{o}));
}

}  // namespace metrics

// The name is the one that the metric has: it may have got it later.
Config to_config(const Metric& v) {
  if (v.origin()) {
    Config config = v.origin()->serialized("keras.metrics");
    if (config["config"].find("name")) config["config"]["name"] = v.name();
    return config;
  }
  const OwnClass* own = own_class(dynamic_type(*v.state()));
  if (!own)
    fail_unimplemented("get_config", "the metric \"" + v.name() +
                                         "\" is of the program's own, and has no config: register it by "
                                         "keras::saving::register_keras_serializable");
  Config config;
  config["module"] = Config();
  config["class_name"] = own->class_name;
  config["config"]["name"] = v.name();
  ConfigFields f = ConfigFields::writing(&config["config"]);
  if (own->write) own->write(f, dynamic_cast<const void*>(v.state().get()));
  config["registered_name"] = own->registered_name;
  return config;
}
Metric metric_from_config(const Config& c) {
  return object_from<Metric>(c, class_registry().metrics, "metric",
                             [](const std::string& name) { return metrics::get(name); });
}
}  // namespace rw::keras
