// Optimizers, metrics and seed generators as checkpoints see them. An optimizer has all its variables in the
// list _variables, those that it trains in _trainable_variables, and its slots once more in lists by their
// names.
#include <map>

#include "rewind/keras/metric.h"
#include "rewind/keras/optimizer_state.h"
#include "rewind/keras/seed_generator.h"
#include "rewind/module/trackable.h"

namespace rw::keras {
namespace {

using Children = std::vector<TrackableChild>;
using Kind = Trackable::Kind;

uint64_t address_number(const void* address) { return uint64_t(reinterpret_cast<uintptr_t>(address)); }

TrackablePtr list_of_variables(const void* owner, size_t part, const std::vector<Variable>& variables,
                               Kind kind = Kind::kList) {
  Children children;
  for (const Variable& v : variables)
    children.push_back({std::to_string(children.size()), rw::trackable_of(v)});
  return make_container(kind, static_cast<const char*>(owner) + part, std::move(children));
}

// Keras' lists of slots, in the order in which each class makes them.
struct SlotList {
  std::string_view class_name, slot, attribute;
  bool always = true;  // also empty
};
constexpr SlotList kSlotLists[] = {{"SGD", "momentum", "momentums"},
                                   {"Adam", "momentum", "_momentums"},
                                   {"Adam", "velocity", "_velocities"},
                                   {"Adam", "velocity_hat", "_velocity_hats", false},
                                   {"AdamW", "momentum", "_momentums"},
                                   {"AdamW", "velocity", "_velocities"},
                                   {"AdamW", "velocity_hat", "_velocity_hats", false},
                                   {"Nadam", "momentum", "_momentums"},
                                   {"Nadam", "velocity", "_velocities"},
                                   {"Adamax", "momentum", "_m"},
                                   {"Adamax", "norm", "_u"},
                                   {"RMSprop", "velocity", "_velocities"},
                                   {"RMSprop", "momentum", "_momentums"},
                                   {"RMSprop", "average_gradient", "_average_gradients"},
                                   {"Adagrad", "accumulator", "_accumulators"},
                                   {"Adadelta", "accumulated_grad", "_accumulated_grads"},
                                   {"Adadelta", "accumulated_delta_var", "_accumulated_delta_vars"},
                                   {"Ftrl", "accumulator", "_accumulators"},
                                   {"Ftrl", "linear", "_linears"},
                                   {"Lion", "momentum", "_momentums"}};

ObjectId optimizer_id(const Optimizer::State& state) { return {"optimizer", address_number(&state)}; }

class OptimizerView final : public Trackable {
 public:
  explicit OptimizerView(std::shared_ptr<Optimizer::State> state) : state_(std::move(state)) {}
  ObjectId id() const override { return optimizer_id(*state_); }
  Children children(TrackFor) const override { return state_->tracked_children(); }
  std::string describe() const override { return "optimizer " + state_->name(); }
  std::weak_ptr<const void> life() const override { return state_; }

 private:
  std::shared_ptr<Optimizer::State> state_;
};

class VariablesView final : public Trackable {
 public:
  VariablesView(ObjectId id, std::string what, std::shared_ptr<const void> life, Children children)
      : id_(id), what_(std::move(what)), life_(std::move(life)), children_(std::move(children)) {}
  ObjectId id() const override { return id_; }
  Children children(TrackFor) const override { return children_; }
  std::string describe() const override { return what_; }
  std::weak_ptr<const void> life() const override { return life_; }

 private:
  ObjectId id_;
  std::string what_;
  std::shared_ptr<const void> life_;
  Children children_;
};

}  // namespace

Children Optimizer::State::tracked_children() const {
  std::vector<Variable> own;
  std::map<std::string, std::vector<Variable>> slots;
  const auto is_first = [&](const Variable& v) {
    return same_variable(v, counter_) || (rate_.defined() && same_variable(v, rate_));
  };
  for (const OwnVariable& v : own_) {
    if (!built_ && !is_first(v.variable)) continue;  // Keras makes them when it builds
    own.push_back(v.variable);
    if (v.beside.defined()) slots[v.name].push_back(v.variable);
  }
  size_t part = 0;
  Children list{{"_variables", list_of_variables(this, part++, own)},
                {"_trainable_variables", list_of_variables(this, part++, trained_)},
                {"_trainable_variables_indices", list_of_variables(this, part++, {}, Kind::kDict)},
                {"_iterations", rw::trackable_of(counter_)}};
  if (rate_.defined()) list.push_back({"_learning_rate", rw::trackable_of(rate_)});
  if (!built_ || !rule_) return list;
  const auto add = [&](const std::string& attribute, const std::string& slot) {
    list.push_back({attribute, list_of_variables(this, part++, std::exchange(slots[slot], {}))});
  };
  if (options_.use_ema) add("_model_variables_moving_average", "average");
  if (options_.gradient_accumulation_steps) add("_accumulated_gradients", "gradient_accumulator");
  const std::string class_name = rule_->class_name();
  bool known = false;
  for (const SlotList& l : kSlotLists) {
    if (l.class_name != class_name) continue;
    known = true;
    if (l.always || slots.contains(std::string(l.slot))) add(std::string(l.attribute), std::string(l.slot));
  }
  if (!known)
    for (const std::vector<Slot>& group : rule_->slot_groups())
      for (const Slot& s : group) add("_" + s.name + "s", s.name);
  for (const OwnVariable& v : own_)  // of the rule's own: Nadam's product
    if (!v.beside.defined() && !is_first(v.variable))
      list.push_back({"_" + v.name, rw::trackable_of(v.variable)});
  return list;
}

void Optimizer::State::tell_new_children() {
  rw::tell_new_children(optimizer_id(*this),
                        [&] { return std::make_shared<OptimizerView>(shared_from_this()); });
}

TrackablePtr trackable_of(const Optimizer& optimizer) {
  return std::make_shared<OptimizerView>(optimizer.state());
}

TrackablePtr trackable_of(const Metric& metric) {
  Children children;
  for (const Variable& v : metric.variables()) {
    const std::string name = checkpoint_name(v);
    children.push_back({name.substr(name.rfind('/') + 1), rw::trackable_of(v)});
  }
  return std::make_shared<VariablesView>(ObjectId{"metric", address_number(metric.state().get())},
                                         "metric " + metric.name(), metric.state(), std::move(children));
}

TrackablePtr trackable_of(const SeedGenerator& generator) {
  const auto state = generator.state().identity();
  return std::make_shared<VariablesView>(ObjectId{"seed generator", address_number(state.get())},
                                         "seed generator", state,
                                         Children{{"_state", rw::trackable_of(generator.state())}});
}

}  // namespace rw::keras
