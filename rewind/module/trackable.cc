#include "rewind/module/trackable.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>

#include "rewind/module/module.h"

namespace rw {
namespace {

uint64_t number_of(const void* address) { return uint64_t(reinterpret_cast<uintptr_t>(address)); }

class VariableView final : public Trackable {
 public:
  explicit VariableView(const Variable& variable) : variable_(variable) {}
  ObjectId id() const override { return {"variable", number_of(variable_.identity().get())}; }
  Kind kind() const override { return Kind::kVariable; }
  std::vector<TrackableValue> values() const override {
    return {{.full_name = checkpoint_name(variable_), .variable = variable_}};
  }
  Variable variable() const override { return variable_; }
  std::string describe() const override {
    return "variable " + checkpoint_name(variable_) + ", " + std::string(name_of(variable_.dtype())) + " " +
           variable_.shape().to_string();
  }
  std::weak_ptr<const void> life() const override { return variable_.identity(); }

 private:
  Variable variable_;
};

// Checkpoints know nothing of functions; in a SavedModel the one named `call` is what the object does when it
// is called.
std::vector<TrackableChild> for_purpose(std::vector<TrackableChild> children, TrackFor purpose) {
  if (purpose == TrackFor::kCheckpoint)
    std::erase_if(children,
                  [](const TrackableChild& c) { return c.object->kind() == Trackable::Kind::kFunction; });
  else
    for (TrackableChild& c : children)
      if (c.name == "call" && c.object->kind() == Trackable::Kind::kFunction) c.name = "__call__";
  return children;
}

class ContainerView final : public Trackable {
 public:
  ContainerView(Kind kind, const void* address, std::vector<TrackableChild> children)
      : kind_(kind), address_(address), children_(std::move(children)) {}
  ObjectId id() const override { return {"container", number_of(address_)}; }
  Kind kind() const override { return kind_; }
  std::vector<TrackableChild> children(TrackFor purpose) const override {
    return for_purpose(children_, purpose);
  }
  std::string describe() const override {
    const char* what = kind_ == Kind::kDict ? "map" : "list";
    return std::string(what) + " of " + std::to_string(children_.size()) + " tracked objects";
  }

 private:
  Kind kind_;
  const void* address_;
  std::vector<TrackableChild> children_;
};

class GeneratorView final : public Trackable {
 public:
  explicit GeneratorView(const random::Generator& generator) : state_(generator.state()) {}
  ObjectId id() const override { return {"generator", number_of(state_.identity().get())}; }
  std::vector<TrackableChild> children(TrackFor) const override {
    return {{"_state_var", trackable_of(state_)}};
  }
  std::string describe() const override { return "random generator"; }

 private:
  Variable state_;
};

class ModuleView final : public Trackable {
 public:
  explicit ModuleView(const Module& module) : module_(module) {}
  ObjectId id() const override { return {"module", module_.identity()}; }
  std::vector<TrackableChild> children(TrackFor purpose) const override {
    module_.check_members_listed();
    ChildCollector collector(ChildCollector::Want::kObjects);
    auto& module = const_cast<Module&>(module_);
    module.visit_members(collector);
    module.visit_more(collector);
    return for_purpose(collector.take_objects(), purpose);
  }
  const Module* module() const override { return &module_; }
  std::string describe() const override { return "module " + module_.name(); }

 private:
  const Module& module_;
};

// ---- who waits for children

struct Waiting {
  std::weak_ptr<const void> life;
  std::function<bool(const Trackable&)> arrived;
};
struct WaitingList {
  std::mutex mutex;
  std::multimap<ObjectId, Waiting> waiting;  // guarded by mutex
};
std::atomic<size_t> waiting_count{0};
WaitingList& waiting_list() {
  static auto* const list =
      new WaitingList;  // objects with static storage may be built after it would be gone
  return *list;
}

}  // namespace

TrackablePtr Trackable::child(const std::string& name) const {
  for (const TrackableChild& c : children(TrackFor::kCheckpoint))
    if (c.name == name) return c.object;
  return nullptr;
}

TrackablePtr trackable_of(const Variable& variable) { return std::make_shared<VariableView>(variable); }
TrackablePtr trackable_of(const Module& module) { return module.trackable(); }
TrackablePtr random::trackable_of(const Generator& generator) {
  return std::make_shared<GeneratorView>(generator);
}
TrackablePtr make_container(Trackable::Kind kind, const void* address, std::vector<TrackableChild> children) {
  return std::make_shared<ContainerView>(kind, address, std::move(children));
}
TrackablePtr Module::trackable() const { return std::make_shared<ModuleView>(*this); }

std::string checkpoint_name(const Variable& variable) {
  const std::string& name = variable.name();
  return name.substr(0, name.rfind(":0"));
}

void forget_waits_for_gone_objects() {
  if (waiting_count.load(std::memory_order_relaxed) == 0) return;
  WaitingList& list = waiting_list();
  std::vector<Waiting> gone;  // destroyed behind the lock
  const std::lock_guard lock(list.mutex);
  for (auto it = list.waiting.begin(); it != list.waiting.end();) {
    const bool is_gone = it->second.life.expired();
    if (is_gone) gone.push_back(std::move(it->second));
    it = is_gone ? list.waiting.erase(it) : std::next(it);
  }
  waiting_count = list.waiting.size();
}

void on_new_children(const Trackable& object, std::function<bool(const Trackable&)> arrived) {
  Waiting waiting{object.life(), std::move(arrived)};
  if (waiting.life.expired()) return;
  forget_waits_for_gone_objects();
  WaitingList& list = waiting_list();
  const std::lock_guard lock(list.mutex);
  list.waiting.emplace(object.id(), std::move(waiting));
  waiting_count = list.waiting.size();
}

void tell_new_children(ObjectId id, const std::function<TrackablePtr()>& view) {
  if (waiting_count.load(std::memory_order_relaxed) == 0) return;
  WaitingList& list = waiting_list();
  std::vector<Waiting> told;  // called without the lock: they wait for further objects
  {
    const std::lock_guard lock(list.mutex);
    const auto [begin, end] = list.waiting.equal_range(id);
    for (auto it = begin; it != end; ++it)
      if (!it->second.life.expired()) told.push_back(std::move(it->second));
    list.waiting.erase(begin, end);
    waiting_count = list.waiting.size();
  }
  if (told.empty()) return;
  const TrackablePtr object = view();
  for (Waiting& w : told) {
    if (!w.arrived(*object)) continue;
    const std::lock_guard lock(list.mutex);
    list.waiting.emplace(id, std::move(w));
    waiting_count = list.waiting.size();
  }
}

// ---- members of modules

void ChildCollector::leaf(const std::string& path, const Variable& variable) {
  if (want_ == Want::kLeaves) children_.push_back({path, variable, nullptr});
  else leaf(path, trackable_of(variable));
}
void ChildCollector::leaf(const std::string& path, Module* module) {
  if (want_ == Want::kLeaves) children_.push_back({path, {}, module});
  else leaf(path, module->trackable());
}
void ChildCollector::leaf(const std::string& path, TrackablePtr object) {
  if (object) objects_.push_back({path.substr(names_at_), std::move(object)});
}

ChildCollector::Inside::Inside(ChildCollector* collector, Trackable::Kind kind, const void* address,
                               const std::string& path)
    : collector_(collector), kind_(kind), address_(address), outer_names_(collector->names_at_) {
  if (collector_->want_ != Want::kObjects) return;
  path_ = path;
  outer_.swap(collector_->objects_);
  collector_->names_at_ = path.size() + 1;
}

ChildCollector::Inside::~Inside() {
  if (collector_->want_ != Want::kObjects) return;
  collector_->names_at_ = outer_names_;
  outer_.swap(collector_->objects_);
  collector_->leaf(path_, make_container(kind_, address_, std::move(outer_)));
}

}  // namespace rw
