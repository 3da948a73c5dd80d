#include "facts.h"

#include <algorithm>

namespace rw::autograph_tool {

bool Facts::changes_members(const Range& body, std::set<Range>& visited) const {
  if (!visited.insert(body).second) return false;
  for (const Change& c : changes)
    if (body.contains(c.at) && c.place.root == Place::Root::kMember) return true;
  for (const Call& c : own_calls)
    if (body.contains(c.at) && changes_members(c.body, visited)) return true;
  return false;
}

bool Facts::is_parameter(const Range& body, Spot declared) const {
  const auto found = parameters.find(body);
  return found != parameters.end() && found->second.contains(declared);
}

void Facts::collect(const Range& region, std::set<Range>& visited, std::vector<const Change*>& found) const {
  if (!visited.insert(region).second) return;
  for (const Change& c : changes) {
    if (!region.contains(c.at)) continue;
    if (c.method) {
      std::set<Range> seen;
      if (!changes_members(*c.method, seen)) continue;
    }
    if (c.parameter && std::none_of(changes.begin(), changes.end(),
                                    [&](const Change& o) { return o.place.declared == *c.parameter; }))
      continue;
    found.push_back(&c);
  }
  for (const Use& use : lambda_uses) {
    if (!region.contains(use.at)) continue;
    const Range& body = lambdas.at(use.variable);
    std::vector<const Change*> inside;
    collect(body, visited, inside);
    for (const Change* c : inside)
      if (!body.contains(c->place.declared) && !is_parameter(body, c->place.declared)) found.push_back(c);
  }
  for (const Call& call : own_calls) {
    if (!region.contains(call.at)) continue;
    std::vector<const Change*> inside;
    collect(call.body, visited, inside);
    for (const Change* c : inside)
      if (c->place.root == Place::Root::kMember || c->place.root == Place::Root::kGlobal) found.push_back(c);
  }
}

std::vector<const Change*> Facts::changed_in(const Range& region) const {
  std::set<Range> visited;
  std::vector<const Change*> found;
  collect(region, visited, found);
  std::erase_if(found, [&](const Change* c) { return region.contains(c->place.declared); });
  std::stable_sort(found.begin(), found.end(),
                   [](const Change* a, const Change* b) { return a->place.declared < b->place.declared; });
  return found;
}

std::vector<std::string> Facts::names_changed_in(const Range& region) const {
  std::vector<std::string> names;
  for (const Change* c : changed_in(region))
    if (std::find(names.begin(), names.end(), c->place.text) == names.end()) names.push_back(c->place.text);
  // A whole variable stands for its members.
  std::erase_if(names, [&](const std::string& n) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& o) {
      return n.size() > o.size() && n.starts_with(o) && n[o.size()] == '.';
    });
  });
  return names;
}

}  // namespace rw::autograph_tool
