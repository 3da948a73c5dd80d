#include "rewind/keras/optimizer_state.h"

#include <algorithm>
#include <cstdio>

#include "rewind/base/error.h"
#include "rewind/base/number_text.h"
#include "rewind/function/control_flow.h"
#include "rewind/keras/config_fields.h"
#include "rewind/keras/constraints.h"
#include "rewind/keras/layer_name.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/creation.h"
#include "rewind/tensor/ops/reduce.h"
#include "rewind/tensor/ops/unary.h"
#include "rewind/tensor/trace.h"

namespace rw::keras {
namespace {

// "dense/kernel:0" -> "dense_kernel"
std::string flat_name(const std::string& name) {
  std::string flat = name.substr(0, name.rfind(':'));
  std::replace(flat.begin(), flat.end(), '/', '_');
  return flat;
}

}  // namespace

Optimizer::State::State(std::shared_ptr<UpdateRule> rule, const OptimizerOptions& options)
    : rule_(std::move(rule)),
      options_(options),
      name_(options.name.empty() ? auto_name(rule_ ? rule_->class_name() : "LossScaleOptimizer")
                                 : options.name) {
  check_options();
  const OutsideTraces outside;
  counter_ = add_variable(constant(int64_t(0)), "iteration");
  if (const LearningRateSchedule* s = options.learning_rate.schedule()) schedule_ = *s;
  else if (const Variable* v = options.learning_rate.variable()) rate_ = *v;
  else rate_ = add_variable(scalar_tensor(*options.learning_rate.number(), float32), "learning_rate");
}

void Optimizer::State::check_options() const {
  const OptimizerOptions& o = options_;
  if (int(o.clipnorm.has_value()) + int(o.clipvalue.has_value()) + int(o.global_clipnorm.has_value()) > 1)
    fail_invalid(name_, "only one of clipnorm, clipvalue and global_clipnorm can be set");
  if (o.gradient_accumulation_steps && *o.gradient_accumulation_steps < 2)
    fail_invalid(name_, "gradient_accumulation_steps must be at least 2: it is " +
                            std::to_string(*o.gradient_accumulation_steps));
  if (o.use_ema && !(o.ema_momentum >= 0 && o.ema_momentum <= 1))
    fail_invalid(name_, "ema_momentum must lie in [0, 1]: it is " + number_text(o.ema_momentum));
  if (o.use_ema && o.ema_overwrite_frequency && *o.ema_overwrite_frequency < 1)
    fail_invalid(name_, "ema_overwrite_frequency must be at least 1: it is " +
                            std::to_string(*o.ema_overwrite_frequency));
}

// ---- variables --------------------------------------------------------------------------------------------

Variable Optimizer::State::add_variable(const Tensor& initial, const std::string& name) {
  const Variable v(initial, {.trainable = false, .name = name_ + "/" + name});
  own_.push_back({name, {}, v});
  return v;
}

Variable Optimizer::State::add_slot(const Variable& reference, const Slot& slot) {
  const Variable v(fill(reference.shape(), scalar_tensor(slot.initial_value, reference.dtype())),
                   {.trainable = false, .name = name_ + "/" + flat_name(reference.name()) + "_" + slot.name});
  own_.push_back({slot.name, reference, v});
  return v;
}

void Optimizer::State::build(const std::vector<Variable>& variables) {
  if (built_) return;
  const std::lock_guard building(tracing_mutex());
  if (built_) return;
  const OutsideTraces outside;  // a step in a function finds its variables there
  trained_ = variables;
  for (const Variable& v : variables) by_id_[v.id()].decays = decays(v);
  if (options_.use_ema)
    for (const Variable& v : variables) of(v).average = add_slot(v, {"average"});
  if (options_.gradient_accumulation_steps)
    for (const Variable& v : variables) of(v).accumulator = add_slot(v, {"gradient_accumulator"});
  if (rule_) {
    for (const std::vector<Slot>& group : rule_->slot_groups())
      for (const Variable& v : variables)
        for (const Slot& slot : group) of(v).slots.push_back(add_slot(v, slot));
    for (const Variable& v : rule_->build(name_, variables)) {
      const std::string path = v.name().substr(0, v.name().rfind(':'));
      own_.push_back({path.substr(path.rfind('/') + 1), {}, v});
    }
  }
  built_ = true;
  tell_new_children();
}

Optimizer::State::Trained& Optimizer::State::of(const Variable& variable) {
  const auto at = by_id_.find(variable.id());
  if (at == by_id_.end())
    fail_invalid(name_,
                 "variable " + variable.name() +
                     " is not among those that the optimizer was built with; a new set of variables needs a "
                     "new optimizer");
  return at->second;
}

bool Optimizer::State::decays(const Variable& variable) const {
  for (const Variable& v : not_decayed_)
    if (same_variable(v, variable)) return false;
  for (const std::string& name : not_decayed_names_)
    if (variable.name().find(name) != std::string::npos) return false;
  return true;
}

void Optimizer::State::exclude_from_weight_decay(const std::vector<Variable>& variables,
                                                 const std::vector<std::string>& names) {
  if (built_) fail_precondition("exclude_from_weight_decay", "optimizer " + name_ + " is built already");
  not_decayed_ = variables;
  not_decayed_names_ = names;
}

// ---- rate and counter -------------------------------------------------------------------------------------

Tensor Optimizer::State::iterations() const {
  if (options_.gradient_accumulation_steps)
    return math::floordiv(counter_, *options_.gradient_accumulation_steps);
  return counter_.value();
}

Tensor Optimizer::State::learning_rate() const { return schedule_ ? (*schedule_)(counter_) : rate_.value(); }

void Optimizer::State::set_learning_rate(const Operand& value) {
  if (schedule_)
    fail_precondition("set_learning_rate", "the learning rate of " + name_ +
                                               " follows a schedule; make the "
                                               "optimizer with a number to set it");
  const Tensor& v = value.tensor(rate_.dtype());
  rate_.assign(v.dtype() == rate_.dtype() ? v : cast(v, rate_.dtype()));
}

Tensor Optimizer::State::scale_loss(const Tensor& loss) const {
  return options_.loss_scale_factor ? loss * *options_.loss_scale_factor : loss;
}

void Optimizer::State::write_common_options(ConfigFields& f) const {
  const OptimizerOptions& o = options_;
  f.set("name", name_);
  f.set("learning_rate", schedule_ ? to_config(*schedule_) : to_config(cast(rate_.value(), float64)));
  f.set("weight_decay", to_config(o.weight_decay));
  f.set("clipnorm", to_config(o.clipnorm));
  f.set("global_clipnorm", to_config(o.global_clipnorm));
  f.set("clipvalue", to_config(o.clipvalue));
  f.set("use_ema", o.use_ema);
  f.set("ema_momentum", o.ema_momentum);
  f.set("ema_overwrite_frequency", to_config(o.ema_overwrite_frequency));
  f.set("loss_scale_factor", to_config(o.loss_scale_factor));
  f.set("gradient_accumulation_steps", to_config(o.gradient_accumulation_steps));
}

// ---- a step -----------------------------------------------------------------------------------------------

void Optimizer::State::apply(const std::vector<Gradient>& gradients, const std::vector<Variable>& variables) {
  std::vector<Gradient> present;
  std::vector<Variable> targets;
  std::vector<std::string> missing;
  for (size_t i = 0; i < variables.size(); ++i) {
    of(variables[i]);
    if (gradients[i].none()) {
      missing.push_back(variables[i].name());
      continue;
    }
    targets.push_back(variables[i]);
    present.push_back(map_values(gradients[i], [&](const Tensor& g) {
      const Tensor unscaled = options_.loss_scale_factor ? g / *options_.loss_scale_factor : g;
      return unscaled.dtype() == variables[i].dtype() ? unscaled : cast(unscaled, variables[i].dtype());
    }));
  }
  if (present.empty()) fail_invalid("apply_gradients", kNoGradient);
  if (!missing.empty()) warn_of_missing(missing);
  accumulate_or_update(present, targets);
  if (options_.use_ema) move_averages();
  for (const Variable& v : targets)
    if (const Constraint constraint = constraint_of(v)) v.assign(constraint(v));
  counter_.assign_add(int64_t(1));
}

void Optimizer::State::warn_of_missing(const std::vector<std::string>& names) {
  if (warned_) return;
  warned_ = true;
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  std::fputs(("rewind: no gradient reaches " + list + ": not trained\n").c_str(), stderr);
}

void Optimizer::State::accumulate_or_update(const std::vector<Gradient>& gradients,
                                            const std::vector<Variable>& variables) {
  if (!options_.gradient_accumulation_steps) return update(gradients, variables);
  const int64_t steps = *options_.gradient_accumulation_steps;
  cond((counter_ + int64_t(1)) % steps == int64_t(0),
       [&] {
         std::vector<Gradient> mean;
         for (size_t i = 0; i < variables.size(); ++i)
           mean.push_back((gradients[i].tensor() + of(variables[i]).accumulator) / double(steps));
         update(std::move(mean), variables);
         for (const Variable& v : trained_) {
           const Variable& sum = of(v).accumulator;
           sum.assign(zeros(sum.shape(), sum.dtype()));
         }
       },
       [&] {
         for (size_t i = 0; i < variables.size(); ++i)
           of(variables[i]).accumulator.assign_add(gradients[i].tensor());
       });
}

void Optimizer::State::update(std::vector<Gradient> gradients, const std::vector<Variable>& variables) {
  gradients = clipped(gradients);
  if (options_.weight_decay) decay_weights(variables);
  const OptimizerStep step(learning_rate(), iterations());
  rule_->begin_step(step);
  for (size_t i = 0; i < variables.size(); ++i)
    rule_->update(step, gradients[i], variables[i], of(variables[i]).slots);
}

std::vector<Gradient> Optimizer::State::clipped(const std::vector<Gradient>& gradients) const {
  std::vector<Gradient> out;
  if (options_.clipnorm && *options_.clipnorm > 0) {
    for (const Gradient& g : gradients)
      out.push_back(map_values(g, [&](const Tensor& t) { return clip_by_norm(t, *options_.clipnorm); }));
  } else if (options_.clipvalue && *options_.clipvalue > 0) {
    const double bound = *options_.clipvalue;
    for (const Gradient& g : gradients)
      out.push_back(map_values(g, [&](const Tensor& t) { return clip_by_value(t, -bound, bound); }));
  } else if (options_.global_clipnorm && *options_.global_clipnorm > 0) {
    std::vector<Tensor> values;
    for (const Gradient& g : gradients) values.push_back(g.slices() ? g.slices()->values : g.tensor());
    const std::vector<Tensor> scaled = clip_by_global_norm(values, *options_.global_clipnorm).tensors;
    for (size_t i = 0; i < gradients.size(); ++i)
      out.push_back(map_values(gradients[i], [&](const Tensor&) { return scaled[i]; }));
  } else {
    return gradients;
  }
  return out;
}

void Optimizer::State::decay_weights(const std::vector<Variable>& variables) {
  const Tensor rate = learning_rate();
  for (const Variable& v : variables) {
    if (!of(v).decays) continue;
    const Tensor lr = rate.dtype() == v.dtype() ? rate : cast(rate, v.dtype());
    v.assign_sub(v * *options_.weight_decay * lr);
  }
}

void Optimizer::State::move_averages() {
  const Tensor count = iterations();
  for (const Variable& v : trained_) {
    // The first step takes the weights as they are.
    const Tensor momentum = cast(count != int64_t(0), v.dtype()) * options_.ema_momentum;
    const Variable& average = of(v).average;
    average.assign(momentum * average + (1.0 - momentum) * v);
  }
  if (options_.ema_overwrite_frequency)
    cond((count + int64_t(1)) % *options_.ema_overwrite_frequency == int64_t(0),
         [&] { write_averages(trained_); }, [] {});
}

void Optimizer::State::write_averages(const std::vector<Variable>& variables) {
  if (!options_.use_ema || !built_) return;
  for (const Variable& v : variables) v.assign(of(v).average);
}

}  // namespace rw::keras
