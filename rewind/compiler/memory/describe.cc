#include "rewind/compiler/memory/describe.h"

#include <algorithm>
#include <set>

#include "rewind/base/call_site.h"
#include "rewind/base/symbolise.h"

namespace rw {
namespace {

constexpr size_t kMostOps = 5;  // named for one value

std::shared_ptr<const Graph> group_of(const Node& n) {
  return n.op->name == "_Fused" || n.op->name == "_Tiles" ? graph_attr(n, "f") : nullptr;
}

std::string site_of(const Node& n) {
  return n.site ? static_cast<const CallSite*>(n.site.get())->describe() : std::string();
}

// Which values of a graph one of them is made from, itself among them.
std::vector<uint8_t> made_from(const Graph& g, ValueId value) {
  std::vector<uint8_t> needed(g.num_values(), 0);
  needed[size_t(value)] = 1;
  for (size_t i = g.nodes().size(); i-- > 0;) {
    const Node& n = g.nodes()[i];
    for (size_t k = 0; k < n.outputs.size(); ++k) {
      if (!needed[size_t(n.outputs[k])]) continue;
      const std::shared_ptr<const Graph> body = group_of(n);
      if (!body) {
        for (const ValueId v : n.inputs) needed[size_t(v)] = 1;
        continue;
      }
      const std::vector<uint8_t> inside = made_from(*body, body->outputs[k]);
      for (size_t a = 0; a < n.inputs.size(); ++a)
        if (inside[size_t(body->arguments[a])]) needed[size_t(n.inputs[a])] = 1;
    }
  }
  return needed;
}

// The values that a group makes on the way to one of its outputs, in order.
std::vector<ValueId> steps_to(const Graph& body, ValueId output) {
  const std::vector<uint8_t> needed = made_from(body, output);
  std::vector<ValueId> list;
  for (const Node& n : body.nodes())
    for (const ValueId v : n.outputs)
      if (needed[size_t(v)]) list.push_back(v);
  return list;
}

void add_ops(const Graph& g, ValueId value, std::vector<std::string>* ops) {
  const Node* n = g.producer(value);
  if (!n) return;
  if (const std::shared_ptr<const Graph> body = group_of(*n)) {
    for (const ValueId v : steps_to(*body, body->outputs[size_t(g.value(value).index)]))
      add_ops(*body, v, ops);
  } else if (n->op->name != "Const" && std::find(ops->begin(), ops->end(), n->op->name) == ops->end()) {
    ops->push_back(n->op->name);
  }
}

}  // namespace

std::string made_by(const Graph& g, ValueId value) {
  std::vector<std::string> ops;
  add_ops(g, value, &ops);
  std::string text;
  for (size_t i = 0; i < ops.size() && i < kMostOps; ++i) text += (i ? " + " : "") + ops[i];
  if (ops.size() > kMostOps) text += " + " + std::to_string(ops.size() - kMostOps) + " more";
  return text.empty() ? "an argument" : text;
}

std::string line_of(const Graph& g, ValueId value) {
  const Node* n = g.producer(value);
  if (!n) return {};
  if (const std::shared_ptr<const Graph> body = group_of(*n)) {
    const std::vector<ValueId> list = steps_to(*body, body->outputs[size_t(g.value(value).index)]);
    for (size_t i = list.size(); i-- > 0;)
      if (std::string line = line_of(*body, list[i]); !line.empty()) return line;
  }
  return site_of(*n);
}

std::string type_of(const GraphValue& v) { return std::string(name_of(v.dtype)) + v.shape.to_string(); }

static void add_frames(const Graph& g, std::set<const void*>* sites, std::set<uintptr_t>* frames) {
  for (const Node& n : g.nodes()) {
    if (n.site && sites->insert(n.site.get()).second) {
      const std::vector<uintptr_t>& more = static_cast<const CallSite*>(n.site.get())->frames();
      frames->insert(more.begin(), more.end());
    }
    if (const std::shared_ptr<const Graph> body = group_of(n)) add_frames(*body, sites, frames);
  }
}

void find_lines_ahead(const Graph& graph) {
  constexpr size_t kMostFrames = 20'000;  // that go into a command line
  std::set<const void*> sites;
  std::set<uintptr_t> frames;
  add_frames(graph, &sites, &frames);
  const std::vector<uintptr_t> list(frames.begin(), frames.end());
  if (list.size() <= kMostFrames) symbolise_ahead(list);
}

}  // namespace rw
