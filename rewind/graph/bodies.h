// Functions in attributes, seen as graphs: with others in their places.
#pragma once

#include <unordered_set>

#include "rewind/graph/graph.h"

namespace rw {

// The attributes with change(body) in place of each function; the same attributes where nothing changes.
template <class F>
Attrs with_bodies(const Attrs& attrs, F&& change) {
  Attrs out = attrs;
  for (const std::pair<std::string, AttrValue>& attr : attrs) {
    if (const BodyRef* one = attr.second.get_if<BodyRef>()) {
      if (BodyRef now = change(*one); now != *one) out = out.with(attr.first, std::move(now));
    } else if (const std::vector<BodyRef>* list = attr.second.get_if<std::vector<BodyRef>>()) {
      std::vector<BodyRef> now;
      for (const BodyRef& body : *list) now.push_back(change(body));
      if (now != *list) out = out.with(attr.first, std::move(now));
    }
  }
  return out;
}

// Whether the graph or a function in it, however deep, has a node for which test(node) holds. `seen` are
// functions without such a node: each is looked at once, however often it is called.
template <class F>
bool any_node(const Graph& graph, const F& test, std::unordered_set<const FunctionBody*>& seen) {
  for (const Node& n : graph.nodes()) {
    if (test(n)) return true;
    bool inside = false;
    for_each_body(n.attrs, [&](const BodyRef& body) {
      inside = inside || (seen.insert(body.get()).second && any_node(graph_of(*body), test, seen));
    });
    if (inside) return true;
  }
  return false;
}
template <class F>
bool any_node(const Graph& graph, const F& test) {
  std::unordered_set<const FunctionBody*> seen;
  return any_node(graph, test, seen);
}

}  // namespace rw
