// Learning rates: a number, a variable, or a schedule, which computes the rate from the number of steps made.
//   keras::Adam({.learning_rate = keras::schedules::CosineDecay({.initial_learning_rate = 1e-3,
//                                                                 .decay_steps = 1000})})
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <variant>
#include <vector>

#include "rewind/keras/origin.h"
#include "rewind/tensor/operand.h"
#include "rewind/tensor/variable.h"

namespace rw::keras {

// Any callable Tensor -> Tensor: the number of steps made so far, an integer scalar, to the rate.
class LearningRateSchedule : public WithOrigin {
 public:
  using Call = std::function<Tensor(const Tensor&)>;
  template <class F>
    requires std::is_invocable_r_v<Tensor, const F&, const Tensor&>
  LearningRateSchedule(F f) : call_(std::make_shared<const Call>(std::move(f))) {}  // NOLINT: as written
  Tensor operator()(const Operand& step) const { return (*call_)(step.tensor()); }

 private:
  std::shared_ptr<const Call> call_;
};

class LearningRate {
 public:
  LearningRate(double value) : value_(value) {}                 // NOLINT: rates are written as they are
  LearningRate(const Variable& variable) : value_(variable) {}  // NOLINT
  LearningRate(LearningRateSchedule schedule) : value_(std::move(schedule)) {}  // NOLINT

  const double* number() const { return std::get_if<double>(&value_); }
  const Variable* variable() const { return std::get_if<Variable>(&value_); }
  const LearningRateSchedule* schedule() const { return std::get_if<LearningRateSchedule>(&value_); }

 private:
  std::variant<double, Variable, LearningRateSchedule> value_;
};

inline namespace optimizers {
namespace schedules {

struct ExponentialDecayOptions {
  double initial_learning_rate;
  double decay_steps;
  double decay_rate;
  bool staircase = false;  // the rate falls at whole multiples of decay_steps only
};
// initial * decay_rate ^ (step / decay_steps)
LearningRateSchedule ExponentialDecay(const ExponentialDecayOptions& options);

struct InverseTimeDecayOptions {
  double initial_learning_rate;
  double decay_steps;
  double decay_rate;
  bool staircase = false;
};
// initial / (1 + decay_rate * step / decay_steps)
LearningRateSchedule InverseTimeDecay(const InverseTimeDecayOptions& options);

struct PiecewiseConstantDecayOptions {
  std::vector<double> boundaries;
  std::vector<double> values;  // one more than boundaries
};
LearningRateSchedule PiecewiseConstantDecay(const PiecewiseConstantDecayOptions& options);

struct PolynomialDecayOptions {
  double initial_learning_rate;
  double decay_steps;
  double end_learning_rate = 0.0001;
  double power = 1.0;
  bool cycle = false;  // begins again, over a multiple of decay_steps
};
// (initial - end) * (1 - step / decay_steps) ^ power + end
LearningRateSchedule PolynomialDecay(const PolynomialDecayOptions& options);

struct CosineDecayOptions {
  double initial_learning_rate;
  double decay_steps;
  double alpha = 0.0;                        // the share of the rate that stays
  std::optional<double> warmup_target = {};  // first the rate rises to this, in a line
  double warmup_steps = 0;
};
LearningRateSchedule CosineDecay(const CosineDecayOptions& options);

struct CosineDecayRestartsOptions {
  double initial_learning_rate;
  double first_decay_steps;
  double t_mul = 2.0;  // how much longer each period is than the one before
  double m_mul = 1.0;  // and how much higher it begins
  double alpha = 0.0;
};
LearningRateSchedule CosineDecayRestarts(const CosineDecayRestartsOptions& options);

}  // namespace schedules
}  // namespace optimizers
}  // namespace rw::keras
