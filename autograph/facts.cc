#include "facts.h"

#include <algorithm>

#include "types.h"

namespace rw::autograph_tool {

bool Facts::changes_members(const Range& body, std::set<Range>& visited) const {
  if (!visited.insert(body).second) return false;
  for (const Change& c : changes)
    if (body.contains(c.at) && c.place.root == Place::Root::kMember &&
        (!c.method || changes_members(*c.method, visited)))
      return true;
  return std::any_of(calls.begin(), calls.end(), [&](const Call& c) {
    return c.own && body.contains(c.at) && changes_members(c.body, visited);
  });
}
bool Facts::changes_members(const Range& body) const {
  std::set<Range> visited;
  return changes_members(body, visited);
}

void Facts::collect_members(const Range& body, std::set<Range>& visited,
                            std::vector<const Change*>& found) const {
  if (!visited.insert(body).second) return;
  for (const Change& c : changes)
    if (body.contains(c.at) && c.place.root == Place::Root::kMember &&
        (!c.method || changes_members(*c.method)))
      found.push_back(&c);
  for (const Call& c : calls)
    if (c.own && body.contains(c.at)) collect_members(c.body, visited, found);
}
std::vector<const Change*> Facts::members_changed_in(const Range& body) const {
  std::set<Range> visited;
  std::vector<const Change*> found;
  collect_members(body, visited, found);
  return found;
}

static constexpr int kDeepest = 6;  // functions that hand a parameter on

bool Facts::takes_effect(const Change& c, int depth) const {
  if (c.method) return changes_members(*c.method);
  if (!c.parameter || depth > kDeepest) return true;
  return std::any_of(changes.begin(), changes.end(), [&](const Change& o) {
    return o.place.declared == *c.parameter && takes_effect(o, depth + 1);
  });
}
bool Facts::changes_tensors(const Change& c, int depth) const {
  const auto of_tensors = [](const Place& p) { return holds_tensors(p.type) || holds_tensors(p.changed); };
  if (c.method) {
    const std::vector<const Change*> members = members_changed_in(*c.method);
    return std::any_of(members.begin(), members.end(), [&](const Change* m) { return of_tensors(m->place); });
  }
  if (!c.parameter || depth > kDeepest) return true;
  return std::any_of(changes.begin(), changes.end(), [&](const Change& o) {
    if (!(o.place.declared == *c.parameter)) return false;
    return o.method || o.parameter ? changes_tensors(o, depth + 1) : of_tensors(o.place);
  });
}

// Tensors of all functions that functions called here assign to. Numbers and files are effects that a call
// hides.
void Facts::collect_globals(const Range& region, std::set<Range>& visited,
                            std::vector<const Change*>& found) const {
  for (const Call& call : calls) {
    if (!region.contains(call.at) || !visited.insert(call.body).second) continue;
    for (const Change& c : changes)
      if (c.place.root == Place::Root::kGlobal && call.body.contains(c.at) && holds_tensors(c.place.type))
        found.push_back(&c);
    collect_globals(call.body, visited, found);
  }
}

bool Facts::is_parameter(const Range& body, Spot declared) const {
  const auto found = parameters.find(body);
  return found != parameters.end() && found->second.contains(declared);
}

void Facts::collect(const Range& region, std::set<Range>& visited, std::vector<const Change*>& found) const {
  if (!visited.insert(region).second) return;
  for (const Change& c : changes) {
    if (!region.contains(c.at)) continue;
    if (c.place.through && !region.contains(*c.place.through)) continue;
    if (c.place.keeper && region.contains(*c.place.keeper) != (c.place.root == Place::Root::kElsewhere))
      continue;
    if (!takes_effect(c, 0)) continue;
    found.push_back(&c);
  }
  for (const Use& use : lambda_uses) {
    if (!region.contains(use.at)) continue;
    const auto bodies = lambdas.find(use.variable);
    if (bodies == lambdas.end()) continue;
    for (const Range& body : bodies->second) {
      std::vector<const Change*> inside;
      collect(body, visited, inside);
      for (const Change* c : inside)
        if (!body.contains(c->place.declared) && !is_parameter(body, c->place.declared)) found.push_back(c);
    }
  }
  for (const Call& call : calls) {
    if (!call.own || !region.contains(call.at)) continue;
    std::vector<const Change*> inside;
    collect(call.body, visited, inside);
    for (const Change* c : inside)
      if (c->place.root == Place::Root::kMember) found.push_back(c);
  }
}

std::vector<const Change*> Facts::changed_in(const Range& region) const {
  std::set<Range> visited;
  std::vector<const Change*> found;
  collect(region, visited, found);
  std::set<Range> called;
  collect_globals(region, called, found);
  std::erase_if(found, [&](const Change* c) { return region.contains(c->place.declared); });
  std::stable_sort(found.begin(), found.end(),
                   [](const Change* a, const Change* b) { return a->place.declared < b->place.declared; });
  return found;
}

bool Facts::hidden(const std::string& name, const Spot& declared, const Range& region) const {
  const auto known = locals.find(name.substr(0, name.find('.')));
  if (known == locals.end()) return false;
  const auto begins = [&](const Spot& s) { return s.file == region.file && s.offset < region.begin; };
  return std::any_of(known->second.begin(), known->second.end(), [&](const Named& n) {
    if (n.declared == declared || !n.scope.contains(region) || !begins(n.declared)) return false;
    return !n.scope.contains(declared) || declared < n.declared;
  });
}

std::vector<std::string> Facts::names_changed_in(const Range& region) const {
  std::vector<std::string> names;
  for (const Change* c : changed_in(region)) {
    std::string text = c->place.text;
    // A method that is called knows the member by a name that is a local variable's here.
    if (c->place.root == Place::Root::kMember && hidden(text, c->place.declared, region))
      text = "this->" + text;
    if (std::find(names.begin(), names.end(), text) == names.end()) names.push_back(text);
  }
  // A whole variable stands for its members.
  std::erase_if(names, [&](const std::string& n) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& o) {
      return n.size() > o.size() && n.starts_with(o) && n[o.size()] == '.';
    });
  });
  return names;
}

}  // namespace rw::autograph_tool
