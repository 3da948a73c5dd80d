#include "rewind/keras/optimizer.h"

#include <cstdio>

#include "rewind/autodiff/gradient_tape.h"
#include "rewind/base/error.h"
#include "rewind/keras/optimizer_state.h"
#include "rewind/keras/optimizers.h"
#include "rewind/keras/registry.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/unary.h"

namespace rw::keras {

Tensor OptimizerStep::learning_rate(DType dtype) const {
  return rate_.dtype() == dtype ? rate_ : cast(rate_, dtype);
}

Tensor OptimizerStep::count(DType dtype, int64_t ahead) const {
  return cast(iterations_ + (1 + ahead), dtype);
}

Tensor OptimizerStep::power(double base, DType dtype, int64_t ahead) const {
  for (const Power& p : powers_)
    if (p.base == base && p.dtype == dtype && p.ahead == ahead) return p.value;
  // Keras on TensorFlow makes a float32 of the base before it takes the variable's type.
  const Tensor number = scalar_tensor(double(float(base)), dtype);
  powers_.push_back({base, dtype, ahead, pow(number, count(dtype, ahead))});
  return powers_.back().value;
}

std::vector<Variable> UpdateRule::build(const std::string&, const std::vector<Variable>&) { return {}; }

// ---- the handle -------------------------------------------------------------------------------------------

Optimizer::Optimizer(std::shared_ptr<UpdateRule> rule, const OptimizerOptions& options)
    : state_(std::make_shared<State>(std::move(rule), options)) {}
Config to_config(const Optimizer& v) {
  if (!v.origin())
    fail_unimplemented("get_config",
                       "the optimizer \"" + v.name() +
                           "\" has a rule of the program's own, which has no config: register it by "
                           "keras::saving::register_keras_serializable");
  Config config;
  ConfigFields f = ConfigFields::writing(&config);
  v.state()->write_common_options(f);
  Config out = v.origin()->serialized("keras.optimizers");
  for (auto& [name, value] : *out["config"].members()) config[name] = std::move(value);
  out["config"] = std::move(config);
  return out;
}
Optimizer optimizer_from_config(const Config& c) {
  return object_from<Optimizer>(c, class_registry().optimizers, "optimizer", optimizers::get);
}

Optimizer::Optimizer(const char* name) : Optimizer(optimizers::get(name)) {}
Optimizer::Optimizer(const std::string& name) : Optimizer(optimizers::get(name)) {}

const std::string& Optimizer::name() const { return state_->name(); }
void Optimizer::build(const std::vector<Variable>& variables) const { state_->build(variables); }
bool Optimizer::built() const { return state_->built(); }

void Optimizer::apply_gradients(const std::vector<Gradient>& gradients,
                                const std::vector<Variable>& variables) const {
  if (gradients.size() != variables.size())
    fail_invalid("apply_gradients", "there must be one gradient a variable: there are " +
                                        std::to_string(gradients.size()) + " and " +
                                        std::to_string(variables.size()));
  if (gradients.empty()) return;
  state_->build(variables);
  state_->apply(gradients, variables);
}

void Optimizer::apply(const std::vector<Gradient>& gradients) const {
  if (!built())
    fail_precondition("apply",
                      "optimizer " + name() + " is not built; call build(variables), or apply_gradients");
  apply_gradients(gradients, state_->trained());
}

Tensor Optimizer::minimize(const std::function<Tensor()>& loss,
                           const std::vector<Variable>& variables) const {
  GradientTape tape;
  const Tensor value = loss();
  const Tensor scaled = scale_loss(value);
  apply_gradients(tape.gradient(scaled, variables), variables);
  return value;
}

Tensor Optimizer::iterations() const { return state_->iterations(); }
const Variable& Optimizer::iteration() const { return state_->counter(); }
Tensor Optimizer::learning_rate() const { return state_->learning_rate(); }
void Optimizer::set_learning_rate(const Operand& value) const { state_->set_learning_rate(value); }
Tensor Optimizer::scale_loss(const Tensor& loss) const { return state_->scale_loss(loss); }
bool Optimizer::adapts_loss_scale() const { return state_->adapts_loss_scale(); }
bool Optimizer::keeps_averages() const { return state_->keeps_averages(); }
void Optimizer::finalize_variable_values(const std::vector<Variable>& variables) const {
  state_->write_averages(variables);
}
void Optimizer::exclude_from_weight_decay(const std::vector<Variable>& variables,
                                          const std::vector<std::string>& names) const {
  state_->exclude_from_weight_decay(variables, names);
}
std::vector<Optimizer::OwnVariable> Optimizer::own_variables() const { return state_->own_variables(); }
std::vector<Variable> Optimizer::variables() const {
  std::vector<Variable> list;
  for (const OwnVariable& v : own_variables()) list.push_back(v.variable);
  return list;
}

}  // namespace rw::keras
