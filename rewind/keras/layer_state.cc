#include "rewind/keras/layer_state.h"

#include <algorithm>
#include <unordered_map>

namespace rw::keras {
namespace {

// How many layers have a variable, by its id. Never destroyed: layers of static storage may outlive it.
struct Owners {
  std::mutex mutex;
  std::unordered_map<const void*, int> count;
};
Owners& owners() {
  static auto* const all = new Owners;
  return *all;
}

void own(const Variable& variable) {
  const std::lock_guard lock(owners().mutex);
  ++owners().count[variable.id()];
}
void disown(const Variable& variable) {
  const std::lock_guard lock(owners().mutex);
  const auto at = owners().count.find(variable.id());
  if (at != owners().count.end() && --at->second == 0) owners().count.erase(at);
}

}  // namespace

void LayerState::add_weight(Weight weight) {
  own(weight.variable);
  weights.push_back(std::move(weight));
}

bool LayerState::has(const Variable& variable) const {
  auto same = [&](const Variable& v) { return same_variable(v, variable); };
  auto holds = [&](const Weight& w) { return same(w.variable); };
  return std::any_of(listed.begin(), listed.end(), holds) ||
         std::any_of(weights.begin(), weights.end(), holds) ||
         std::any_of(found.begin(), found.end(), holds) ||
         std::any_of(random_states.begin(), random_states.end(), same);
}

void LayerState::add_listed(const Variable& variable) {
  if (has(variable)) return;
  own(variable);
  listed.push_back({variable, {}, {}});
}

void LayerState::add_found(const Variable& variable) {
  if (has(variable)) return;
  own(variable);
  found.push_back({variable, {}, {}});
}

bool LayerState::owned(const Variable& variable) {
  const std::lock_guard lock(owners().mutex);
  return owners().count.contains(variable.id());
}

LayerState::~LayerState() {
  for (const auto* list : {&listed, &weights, &found})
    for (const Weight& w : *list) disown(w.variable);
}

}  // namespace rw::keras
