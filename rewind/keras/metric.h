// Metrics: what they share. A Metric is a handle: copies are the same metric, with the same state. The state
// lies in variables, so that updates inside a function are read outside.
//
//   keras::SparseCategoricalAccuracy accuracy;
//   accuracy.update_state(y, logits);          // or accuracy(y, logits), which gives the result too
//   accuracy.result(); accuracy.reset_state();
//
// One thread at a time uses a metric.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "rewind/keras/loss.h"
#include "rewind/module/trackable.h"
#include "rewind/tensor/operand.h"
#include "rewind/tensor/variable.h"

namespace rw::keras {

struct MetricOptions {
  std::string name = "";  // empty: the class's own
  DType dtype = DType::kFloat32;
};

// Whether more is better; decides what callbacks take for an improvement.
enum class Direction { kUnknown, kUp, kDown };

// The arithmetic of a metric: derive from it for one of your own, and make Metric(std::make_shared<...>()).
class MetricState {
 public:
  MetricState(std::string name, DType dtype, Direction direction = Direction::kUnknown)
      : name_(std::move(name)), dtype_(dtype), direction_(direction) {}
  virtual ~MetricState() = default;
  // Weights and mask may be undefined tensors.
  virtual void update(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight,
                      const Tensor& mask) = 0;
  // Metrics of plain values (Mean, Sum) override this one.
  virtual void update_values(const Tensor& values, const Tensor& sample_weight, const Tensor& mask);
  virtual Tensor result() const = 0;
  virtual void reset();  // all variables to zero

  const std::string& name() const { return name_; }
  void rename(std::string name) { name_ = std::move(name); }
  DType dtype() const { return dtype_; }
  Direction direction() const { return direction_; }
  const std::vector<Variable>& variables() const { return variables_; }

 protected:
  // A variable of zeros; may be made inside a trace.
  Variable add_variable(const Shape& shape, const std::string& name, DType dtype = DType::kFloat32);

 private:
  std::string name_;
  DType dtype_;
  Direction direction_;
  std::vector<Variable> variables_;
};

class Metric : public WithOrigin {
 public:
  explicit Metric(std::shared_ptr<MetricState> state) : state_(std::move(state)) {}
  Metric(const char* name);         // NOLINT: by name, as in compile
  Metric(const std::string& name);  // NOLINT
  Metric(const Loss& loss);         // NOLINT: the mean of its values
  // The mean of f(y_true, y_pred), values of examples.
  template <class F>
    requires(std::is_invocable_r_v<LossValues, const F&, const Tensor&, const Tensor&> &&
             !std::is_base_of_v<Metric, F> && !std::is_base_of_v<Loss, F>)
  Metric(F f) : Metric(of_function(Loss::Call(std::move(f)), {})) {}  // NOLINT

  const std::string& name() const { return state_->name(); }
  void rename(const std::string& name) const { state_->rename(name); }
  Direction direction() const { return state_->direction(); }
  std::vector<Variable> variables() const { return state_->variables(); }

  void update_state(const Operand& y_true, const Operand& y_pred, const Tensor& sample_weight = {},
                    const Tensor& mask = {}) const {
    state_->update(y_true.tensor(), y_pred.tensor(), sample_weight, mask);
  }
  Tensor result() const { return state_->result(); }
  void reset_state() const { state_->reset(); }
  // Updates and gives the result.
  Tensor operator()(const Operand& y_true, const Operand& y_pred, const Tensor& sample_weight = {},
                    const Tensor& mask = {}) const {
    update_state(y_true, y_pred, sample_weight, mask);
    return result();
  }

  static Metric of_function(Loss::Call f, const MetricOptions& options,
                            Direction direction = Direction::kUnknown,
                            const std::string& default_name = "mean_metric_wrapper");
  const std::shared_ptr<MetricState>& state() const { return state_; }

 protected:
  std::shared_ptr<MetricState> state_;
};

TrackablePtr trackable_of(const Metric& metric);

namespace metrics {

// Of values: update_state(values), result().
class ValueMetric : public Metric {
 public:
  void update_state(const Operand& values, const Tensor& sample_weight = {}, const Tensor& mask = {}) const {
    state_->update_values(values.tensor(), sample_weight, mask);
  }
  Tensor operator()(const Operand& values, const Tensor& sample_weight = {}, const Tensor& mask = {}) const {
    update_state(values, sample_weight, mask);
    return result();
  }

 protected:
  using Metric::Metric;
};

class Mean : public ValueMetric {
 public:
  explicit Mean(const MetricOptions& options = {});
};
class Sum : public ValueMetric {
 public:
  explicit Sum(const MetricOptions& options = {});
};
// The mean of f(y_true, y_pred).
class MeanMetricWrapper : public Metric {
 public:
  explicit MeanMetricWrapper(Loss::Call f, const MetricOptions& options = {})
      : Metric(of_function(std::move(f), options)) {}
};

}  // namespace metrics
}  // namespace rw::keras
