// Optimizers: what they all share. An Optimizer is a handle: copies are the same optimizer, with the same
// state. Its counter, rate and slots are variables, so that a step inside a function is part of the graph.
//
//   auto optimizer = keras::Adam({.learning_rate = 1e-3});
//   optimizer.apply_gradients(tape.gradient(loss, variables), variables);
//
// A step divides by the loss scale, clips, decays weights, updates each variable by the optimizer's rule,
// moves averages, projects onto constraints and counts, in Keras' order. One thread at a time uses an
// optimizer; any number may build it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rewind/autodiff/gradient.h"
#include "rewind/keras/learning_rate.h"
#include "rewind/module/trackable.h"
#include "rewind/tensor/variable.h"

namespace rw::keras {

// The fields that every optimizer's options end with. At most one kind of clipping may be set.
#define RW_KERAS_OPTIMIZER_OPTIONS                                                                          \
  std::optional<double> clipnorm = {};        /* each gradient's norm is at most this */                    \
  std::optional<double> clipvalue = {};       /* each element lies within +-this */                         \
  std::optional<double> global_clipnorm = {}; /* the norm of all gradients together */                      \
  bool use_ema = false;                       /* a moving average of the weights is kept ... */             \
  double ema_momentum = 0.99;                                                                               \
  std::optional<int64_t> ema_overwrite_frequency = {};     /* ... and written into them after so many */    \
  std::optional<double> loss_scale_factor = {};            /* gradients are those of the loss times this */ \
  std::optional<int64_t> gradient_accumulation_steps = {}; /* one update with the mean of so many */        \
  std::string name = "";                                   /* empty: the class's own */

struct OptimizerOptions {
  LearningRate learning_rate = 0.001;
  std::optional<double> weight_decay = {};
  RW_KERAS_OPTIMIZER_OPTIONS
};

// A variable of an optimizer's own beside each variable that it trains.
struct Slot {
  std::string name;  // "momentum"
  double initial_value = 0.0;
};

// What is known while a step is made. Numbers in the dtype of the variable at hand.
class OptimizerStep {
 public:
  OptimizerStep(Tensor rate, Tensor iterations)
      : rate_(std::move(rate)), iterations_(std::move(iterations)) {}
  Tensor learning_rate(DType dtype) const;
  Tensor count(DType dtype, int64_t ahead = 0) const;  // 1 in the first step
  // base ^ count; each is computed once a step.
  Tensor power(double base, DType dtype, int64_t ahead = 0) const;

 private:
  struct Power {
    double base;
    DType dtype;
    int64_t ahead;
    Tensor value;
  };
  Tensor rate_, iterations_;
  mutable std::vector<Power> powers_;
};

// The arithmetic of an optimizer: which slots it has, and how a variable moves.
class UpdateRule {
 public:
  virtual ~UpdateRule() = default;
  virtual std::string class_name() const = 0;  // "Adam"
  // In the order in which they are made: the slots of a group are made variable by variable.
  virtual std::vector<std::vector<Slot>> slot_groups() const { return {}; }
  // State of its own beyond that, made with the slots.
  virtual std::vector<Variable> build(const std::string& scope, const std::vector<Variable>& variables);
  virtual void begin_step(const OptimizerStep& step) { (void)step; }
  // `slots` in the order of slot_groups(); the gradient has the variable's dtype.
  virtual void update(const OptimizerStep& step, const Gradient& gradient, const Variable& variable,
                      const std::vector<Variable>& slots) = 0;
};

class Optimizer : public WithOrigin {
 public:
  Optimizer(std::shared_ptr<UpdateRule> rule, const OptimizerOptions& options);
  Optimizer(const char* name);         // NOLINT: "adam", with Keras' defaults
  Optimizer(const std::string& name);  // NOLINT
  virtual ~Optimizer() = default;

  const std::string& name() const;
  // Makes the slots for these variables, which are the only ones that it will train; the first step does it
  // by itself.
  void build(const std::vector<Variable>& variables) const;
  bool built() const;
  // One step. Variables without a gradient stay as they are.
  void apply_gradients(const std::vector<Gradient>& gradients, const std::vector<Variable>& variables) const;
  void apply(const std::vector<Gradient>& gradients) const;  // for the variables it was built with
  // One step down the gradient of loss(); returns the loss.
  Tensor minimize(const std::function<Tensor()>& loss, const std::vector<Variable>& variables) const;

  // How many updates were made.
  Tensor iterations() const;
  const Variable& iteration() const;  // its counter of steps, int64
  Tensor learning_rate() const;
  // Throws FailedPreconditionError if a schedule decides.
  void set_learning_rate(const Operand& value) const;

  // The loss times the scale by which gradients will be divided.
  Tensor scale_loss(const Tensor& loss) const;
  bool adapts_loss_scale() const;  // a LossScaleOptimizer
  bool keeps_averages() const;     // use_ema
  // Writes the moving averages into the weights, at the end of training.
  void finalize_variable_values(const std::vector<Variable>& variables) const;
  // These variables, and those whose name contains one of the words, are not decayed.
  void exclude_from_weight_decay(const std::vector<Variable>& variables,
                                 const std::vector<std::string>& names = {}) const;
  // Counter, rate, averages, accumulators, slots: as Keras orders and names them.
  std::vector<Variable> variables() const;
  // The same, with what each is for: "iteration", or a slot's name and the variable that it stands beside.
  struct OwnVariable {
    std::string name;
    Variable beside;  // undefined: it belongs to the whole optimizer
    Variable variable;
  };
  std::vector<OwnVariable> own_variables() const;

  class State;
  // For optimizers around others.
  const std::shared_ptr<State>& state() const { return state_; }

 protected:
  explicit Optimizer(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

TrackablePtr trackable_of(const Optimizer& optimizer);

namespace detail {
template <class O>
OptimizerOptions common_options(const O& o) {
  return {o.learning_rate,
          o.weight_decay,
          o.clipnorm,
          o.clipvalue,
          o.global_clipnorm,
          o.use_ema,
          o.ema_momentum,
          o.ema_overwrite_frequency,
          o.loss_scale_factor,
          o.gradient_accumulation_steps,
          o.name};
}
}  // namespace detail

}  // namespace rw::keras
