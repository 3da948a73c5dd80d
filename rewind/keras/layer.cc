#include "rewind/keras/layer.h"

#include <algorithm>
#include <set>
#include <typeinfo>

#include "rewind/base/dynamic_type.h"
#include "rewind/base/error.h"
#include "rewind/keras/call_context.h"
#include "rewind/keras/layer_state.h"
#include "rewind/keras/loading_scope.h"
#include "rewind/tensor/ops/unary.h"
#include "rewind/tensor/trace.h"

namespace rw::keras {
namespace {

void remember_object(LayerState& state, Layer* object) {
  const std::lock_guard lock(state.mutex);
  state.objects.push_back(object);
}
void forget_object(LayerState& state, const Layer* object) {
  const std::lock_guard lock(state.mutex);
  std::erase(state.objects, object);
}

}  // namespace

Layer::Layer(const LayerOptions& options) : Layer("", options) {}

Layer::Layer(std::string class_name, const LayerOptions& options) : state_(std::make_shared<LayerState>()) {
  LayerState& s = *state_;
  s.class_name = std::move(class_name);
  s.name = options.name;
  s.auto_named = s.name.empty();
  if (s.auto_named && !s.class_name.empty()) s.name = auto_name(s.class_name);
  s.named = !s.name.empty();
  s.trainable = options.trainable;
  s.policy = options.dtype.defined() ? options.dtype : dtype_policy();
  remember_object(s, this);
}

Layer::Layer(const Layer& other)
    : Module(other), state_(other.state_), built_here_(other.built_here_.load()) {
  other.name();  // a copy cannot ask for the class of its own object later
  remember_object(*state_, this);
}
// What was moved from stays the layer.
Layer::Layer(Layer&& other) noexcept : Layer(static_cast<const Layer&>(other)) {}  // NOLINT

Layer& Layer::operator=(const Layer& other) {
  if (this == &other) return *this;
  forget_object(*state_, this);
  Module::operator=(other);
  state_ = other.state_;
  built_here_ = other.built_here_.load();
  remember_object(*state_, this);
  return *this;
}

Layer::~Layer() { forget_object(*state_, this); }

std::string Layer::class_name() const {
  const std::lock_guard lock(state_->mutex);
  if (state_->class_name.empty()) {
    const std::type_info* type = dynamic_type(*this);
    state_->class_name = type ? class_name_of(*type) : "Layer";
  }
  return state_->class_name;
}

const std::string& Layer::name() const {
  LayerState& s = *state_;
  if (!s.named.load(std::memory_order_acquire)) {
    const std::string of_class = class_name();
    const std::lock_guard lock(s.mutex);
    if (s.name.empty()) s.name = auto_name(of_class);
    s.named = true;
  }
  return s.name;
}

bool Layer::built() const { return state_->built; }
bool Layer::trainable() const { return state_->trainable; }
void Layer::set_trainable(bool trainable) const {
  find_children();
  state_->set_trainable(trainable);
}
DType Layer::compute_dtype() const { return state_->policy.compute_dtype(); }
DType Layer::variable_dtype() const { return state_->policy.variable_dtype(); }

void Layer::set_input_spec(InputSpec spec) const {
  // A copy that finds the weights there may build while others call the layer.
  if (state_->built && !state_->built_at_once) return;
  state_->spec = std::move(spec);
}
void Layer::set_activity_regularizer(const Regularizer& regularizer) const {
  state_->activity_regularizer = regularizer;
}
void Layer::set_built() const { state_->built = state_->built_at_once = true; }

Tensor Layer::value_of(const Variable& weight) const {
  if (!weight.defined()) return {};
  const Tensor value = weight.value();
  const bool mixed = compute_dtype() != variable_dtype();
  return mixed && is_floating(value.dtype()) ? cast(value, compute_dtype()) : value;
}

Variable Layer::add_weight(const WeightOptions& options) {
  LayerState& s = *state_;
  if (s.built && next_weight_ < s.weights.size()) return s.weights[next_weight_++].variable;
  const DType dtype = options.dtype == DType::kInvalid ? variable_dtype() : options.dtype;
  Initializer initializer = options.initializer;
  if (!initializer) initializer = is_floating(dtype) ? "glorot_uniform" : "zeros";
  const CallContext* context = CallContext::current();
  const std::string path = context ? context->path() : name();
  const std::string own = options.name.empty() ? "variable" : options.name;
  const OutsideTraces outside;
  LoadingScope* loading = LoadingScope::current();
  const Variable v(loading ? loading->new_weight(path + "/" + own, options.shape, dtype)
                           : initializer(options.shape, dtype),
                   {.trainable = options.trainable, .name = path + "/" + own, .dtype = dtype});
  s.add_weight({v, options.regularizer, options.constraint});
  if (options.constraint) set_constraint(v, options.constraint);
  ++next_weight_;
  return v;
}

void Layer::add_loss(const Tensor& loss) { state_->add_loss(loss); }

std::vector<Variable> Layer::weights() const {
  const BuildLock lock(*state_);
  find_children();
  std::vector<const LayerState::Weight*> trainable, all;
  state_->collect(&trainable, &all);
  std::vector<Variable> list;
  for (const auto* w : all) list.push_back(w->variable);
  return list;
}

std::vector<Variable> Layer::trainable_weights() const {
  const BuildLock lock(*state_);
  find_children();
  std::vector<const LayerState::Weight*> trainable, all;
  state_->collect(&trainable, &all);
  std::vector<Variable> list;
  for (const auto* w : trainable) list.push_back(w->variable);
  return list;
}

std::vector<Variable> Layer::non_trainable_weights() const {
  const BuildLock lock(*state_);
  find_children();
  std::vector<const LayerState::Weight*> trainable, all;
  state_->collect(&trainable, &all);
  const std::set<const LayerState::Weight*> trained(trainable.begin(), trainable.end());
  std::vector<Variable> list;
  for (const auto* w : all)
    if (!trained.contains(w)) list.push_back(w->variable);
  return list;
}

SeedGenerator Layer::add_seed_generator(std::optional<int64_t> seed) const {
  const SeedGenerator generator(seed);
  state_->random_states.push_back(generator.state());
  return generator;
}

std::vector<Variable> Layer::random_states() const {
  const BuildLock lock(*state_);
  find_children();
  std::vector<Variable> list;
  std::set<const LayerState*> seen;
  auto add = [&](auto& self, const LayerState& s) -> void {
    if (!seen.insert(&s).second) return;
    list.insert(list.end(), s.random_states.begin(), s.random_states.end());
    for (const auto& child : s.children_now()) self(self, *child);
  };
  add(add, *state_);
  return list;
}

std::vector<Variable> Layer::variables() const {
  std::vector<Variable> list = weights();
  for (Variable& v : random_states()) list.push_back(std::move(v));
  return list;
}

std::vector<Variable> Layer::non_trainable_variables() const {
  std::vector<Variable> list = non_trainable_weights();
  for (Variable& v : random_states()) list.push_back(std::move(v));
  return list;
}

std::vector<Tensor> Layer::get_weights() const {
  std::vector<Tensor> values;
  for (const Variable& v : weights()) values.push_back(v.value());
  return values;
}

void Layer::set_weights(const std::vector<Tensor>& values) const {
  const std::vector<Variable> list = weights();
  if (values.size() != list.size())
    fail_invalid("set_weights", "layer \"" + name() + "\" has " + std::to_string(list.size()) +
                                    " weights, got a list of " + std::to_string(values.size()) +
                                    (built() ? "" : "; the layer is not built yet"));
  for (size_t i = 0; i < list.size(); ++i)
    if (values[i].shape() != list[i].shape())
      fail_invalid("set_weights", "layer \"" + name() + "\": weight " + weight_path(list[i]) + " has shape " +
                                      list[i].shape().to_string() + ", the value given has " +
                                      values[i].shape().to_string());
  for (size_t i = 0; i < list.size(); ++i) list[i].assign(cast(values[i], list[i].dtype()));
}

int64_t Layer::count_params() const {
  const std::vector<Variable> list = weights();
  if (!built() && list.empty())
    fail_precondition("count_params", "layer \"" + name() + "\" is not built yet: call it on data, or " +
                                          "build_for(input_shape), first");
  int64_t count = 0;
  for (const Variable& v : list) count += v.shape().num_elements();
  return count;
}

std::vector<Tensor> Layer::losses() const {
  std::vector<Tensor> list;
  std::vector<LayerState::Weight> penalised;
  {
    const BuildLock lock(*state_);
    find_children();
    std::set<const LayerState*> seen;
    auto add = [&](auto& self, const LayerState& s) -> void {
      if (!seen.insert(&s).second) return;
      for (Tensor& loss : s.own_losses()) list.push_back(std::move(loss));
      for (const auto& child : s.children_now()) self(self, *child);
    };
    add(add, *state_);
    std::vector<const LayerState::Weight*> trainable, all;
    state_->collect(&trainable, &all);
    for (const auto* w : trainable)
      if (w->regularizer) penalised.push_back(*w);
  }
  for (const LayerState::Weight& w : penalised) list.push_back(w.regularizer(w.variable.value()));
  return list;
}

void Layer::find_children() const {
  const BuildLock lock(*state_);
  ChildCollector collector;
  const_cast<Layer*>(this)->visit_members(collector);
  const_cast<Layer*>(this)->visit_more(collector);
  std::set<const LayerState*> seen{state_.get()};
  auto add = [&](auto& self, const std::vector<TrackedChild>& members) -> void {
    for (const TrackedChild& member : members) {
      if (member.variable.defined()) state_->add_listed(member.variable);
      if (!member.module) continue;
      if (const auto* layer = member.module->as_layer()) {
        if (!seen.insert(layer->state_.get()).second) continue;
        layer->name();
        layer->find_children();
        state_->add_child(layer->state_);
      } else {
        self(self, member.module->children());
      }
    }
  };
  add(add, collector.take());
}

void Layer::visit_members(ChildCollector&) {}

void Layer::visit_more(ChildCollector& collector) {
  for (const auto* list : {&state_->listed, &state_->weights, &state_->found})
    for (const LayerState::Weight& w : *list) collector.members(weight_name(w.variable), w.variable);
  for (Variable& v : state_->random_states) collector.members(weight_name(v), v);
  for (const auto& child : state_->children_now())
    if (Layer* object = child->object_or_null()) collector.members(child->name, *object);
}

const Variable& Layer::weight_of(const Variable* own, const char* name) const {
  if (own->defined()) return *own;
  for (const LayerState::Weight& w : state_->weights)
    if (weight_name(w.variable) == name) return w.variable;
  return *own;
}

std::string weight_path(const Variable& weight) {
  const std::string& name = weight.name();
  return name.substr(0, name.rfind(':'));
}
std::string weight_name(const Variable& weight) {
  const std::string path = weight_path(weight);
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}
// ---- the state
// ------------------------------------------------------------------------------------------------

std::shared_ptr<Layer> LayerState::shared_object() {
  const std::lock_guard lock(mutex);
  return shared.lock();
}

Layer* LayerState::object_or_null() {
  const std::lock_guard lock(mutex);
  if (const auto kept = shared.lock()) return kept.get();
  return objects.empty() ? nullptr : objects.back();
}

std::vector<Layer*> LayerState::all_objects() const {
  const std::lock_guard lock(mutex);
  std::vector<Layer*> all = objects;
  if (const auto kept = shared.lock(); kept && std::find(all.begin(), all.end(), kept.get()) == all.end())
    all.push_back(kept.get());
  return all;
}

Layer& LayerState::object() {
  Layer* found = object_or_null();
  if (!found)
    fail_precondition(name, "the layer object is gone, and class " + class_name +
                                " does not say how it is copied: derive it from keras::LayerOf<" +
                                class_name + ">, or keep the object as long as its model");
  return *found;
}

void LayerState::add_child(const std::shared_ptr<LayerState>& child) {
  if (child.get() == this || own_children) return;
  const std::lock_guard lock(mutex);
  if (std::find(children.begin(), children.end(), child) == children.end()) children.push_back(child);
}

std::vector<std::shared_ptr<LayerState>> LayerState::children_now() const {
  const std::lock_guard lock(mutex);
  return children;
}

void LayerState::add_loss(const Tensor& loss) {
  const std::lock_guard lock(mutex);
  losses_.emplace_back(std::this_thread::get_id(), loss);
  has_losses_ = true;
}

void LayerState::clear_losses() {
  std::vector<Tensor> cleared;  // freed without the lock
  if (has_losses_) {
    const std::lock_guard lock(mutex);
    std::erase_if(losses_, [&](auto& loss) {
      if (loss.first != std::this_thread::get_id()) return false;
      cleared.push_back(std::move(loss.second));
      return true;
    });
    has_losses_ = !losses_.empty();
  }
  for (const auto& child : children_now()) child->clear_losses();
}

std::vector<Tensor> LayerState::own_losses() const {
  const std::lock_guard lock(mutex);
  std::vector<Tensor> list;
  for (const auto& [thread, loss] : losses_)
    if (thread == std::this_thread::get_id()) list.push_back(loss);
  return list;
}

void LayerState::note_output(const std::vector<Tensor>& results) {
  if (knows_output_.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(mutex);
  if (output_shapes.empty())
    for (const Tensor& t : results) output_shapes.push_back(t.shape());
  knows_output_ = true;
}

std::shared_ptr<Trainer> LayerState::trainer_now() const {
  const std::lock_guard lock(mutex);
  return trainer;
}

void LayerState::set_trainable(bool value) {
  trainable = value;
  for (const auto& child : children_now()) child->set_trainable(value);
}

void LayerState::collect(std::vector<const Weight*>* trained, std::vector<const Weight*>* all) const {
  std::set<const void*> seen;
  auto add = [&](auto& self, const LayerState& s, bool active) -> void {
    active &= s.trainable;
    for (const bool own_trainable : {true, false}) {
      for (const auto* list : {&s.listed, &s.weights, &s.found}) {
        for (const Weight& w : *list) {
          if (w.variable.trainable() != own_trainable || !seen.insert(w.variable.id()).second) continue;
          all->push_back(&w);
          if (own_trainable && active) trained->push_back(&w);
        }
      }
    }
    for (const auto& child : s.children_now()) self(self, *child, active);
  };
  add(add, *this, true);
}

bool LayerState::has_unbuilt() const {
  if (!built) return true;
  const auto inside = children_now();
  return std::any_of(inside.begin(), inside.end(), [](const auto& c) { return c->has_unbuilt(); });
}

BuildLock::BuildLock(const LayerState& state) : lock_(tracing_mutex(), std::defer_lock) {
  if (state.has_unbuilt()) lock_.lock();
}

}  // namespace rw::keras
