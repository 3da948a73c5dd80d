// A loop that pushes onto lists what the loop of its derivative pops becomes one that keeps some of its
// states, and its derivative one that starts from them: whatever was pushed is computed again. Only what
// effects gave, in each iteration, is still kept for all iterations.
#include <algorithm>
#include <optional>

#include "rewind/compiler/passes/loop_limits.h"
#include "rewind/compiler/passes/passes.h"
#include "rewind/compiler/rewrite.h"
#include "rewind/graph/bodies.h"
#include "rewind/op/table.h"

namespace rw {
namespace {

bool is_while(const Node& n) { return n.op->name == "While" || n.op->name == "StatelessWhile"; }
bool has_effect(const Node& n) { return n.op->stateful && effects_of(n).any(); }
bool invariant(const Graph& body, size_t i) { return body.outputs[i] == body.arguments[i]; }

bool made_by(const Graph& g, ValueId v, const char* op, ValueId first_input) {
  const Node* n = g.producer(v);
  return n && n->op->name == op && n->inputs[0] == first_input;
}

struct PushedList {
  size_t forward, back;    // which loop variable
  ValueId pushed, popped;  // in the two bodies
};

struct LoopPair {
  NodeId forward = -1, back = -1;
  std::shared_ptr<const Graph> cond, body, back_body;
  std::vector<PushedList> lists;
};

// Whether variable 0 of the backward loop counts its iterations down, and nobody else looks at it.
bool counts_down(const Graph& cond, const Graph& body, const Uses& uses) {
  const auto behind = [](const Graph& g, const char* op, double number) {
    return made_by(g, g.outputs[0], op, g.arguments[0]) &&
           known_splat(g.value(g.producer(g.outputs[0])->inputs[1]), number);
  };
  return behind(cond, "Greater", 0) && behind(body, "Sub", 1) && uses.count[size_t(body.arguments[0])] == 1;
}

std::optional<LoopPair> match(const Graph& g, const Uses& uses, NodeId id) {
  const Node& back = g.node(id);
  if (back.op->name != "StatelessWhile" || back.inputs.empty()) return {};
  const GraphValue& count = g.value(back.inputs[0]);
  if (count.node < 0 || !is_while(g.node(count.node)) || uses.count[size_t(back.outputs[0])] > 0) return {};
  const Node& forward = g.node(count.node);
  const auto c = size_t(count.index);
  LoopPair p{count.node, id, graph_attr(forward, "cond"), nullptr, graph_attr(back, "body"), {}};
  const Uses back_uses(*p.back_body);
  if (!counts_down(*graph_attr(back, "cond"), *p.back_body, back_uses)) return {};
  // Draws are made again from where their stream stood.
  p.body = std::make_shared<const Graph>(redraw(*graph_attr(forward, "body"), {}, true));
  const Graph& body = *p.body;
  const Uses body_uses(body);
  const Uses cond_uses(*p.cond);
  if (!made_by(body, body.outputs[c], "AddV2", body.arguments[c]) ||
      !known_splat(body.value(body.producer(body.outputs[c])->inputs[1]), 1) ||
      !known_splat(g.value(forward.inputs[c]), 0))
    return {};
  const auto once = [](const Uses& u, ValueId v) { return u.count[size_t(v)] == 1; };
  for (size_t j = 1; j < back.inputs.size(); ++j) {
    const GraphValue& list = g.value(back.inputs[j]);
    if (list.node != p.forward || list.dtype != DType::kVariant) continue;
    const auto k = size_t(list.index);
    const Node* empty = g.producer(forward.inputs[k]);
    const bool alone = once(uses, back.inputs[j]) && uses.count[size_t(back.outputs[j])] == 0 && empty &&
                       empty->op->name == "EmptyTensorList" &&
                       cond_uses.count[size_t(p.cond->arguments[k])] == 0;
    const ValueId longer = body.outputs[k];
    const ValueId shorter = p.back_body->outputs[j];
    if (!alone || !made_by(body, longer, "TensorListPushBack", body.arguments[k]) ||
        !once(body_uses, longer) || !once(body_uses, body.arguments[k]) ||
        !made_by(*p.back_body, shorter, "TensorListPopBack", p.back_body->arguments[j]) ||
        !once(back_uses, shorter) || !once(back_uses, p.back_body->arguments[j]))
      continue;
    p.lists.push_back({k, j, body.producer(longer)->inputs[1], p.back_body->producer(shorter)->outputs[1]});
  }
  if (p.lists.empty()) return {};
  return p;
}

// What an iteration must start from to give what was pushed, and the state of the next one.
struct Needs {
  std::vector<size_t> state, fixed;  // loop variables
  std::vector<ValueId> given;        // results of effects
  std::vector<uint8_t> nodes;        // of the body: those that compute

  Needs(const Graph& body, const std::vector<PushedList>& lists) : nodes(body.nodes().size(), 0) {
    std::vector<uint8_t> seen(body.num_values(), 0);
    std::vector<ValueId> open;
    for (const PushedList& l : lists) open.push_back(l.pushed);
    while (!open.empty()) {
      const ValueId v = open.back();
      open.pop_back();
      if (seen[size_t(v)]++) continue;
      const GraphValue& value = body.value(v);
      if (value.node < 0) {
        const auto i = size_t(value.index);
        (invariant(body, i) ? fixed : state).push_back(i);
        if (!invariant(body, i)) open.push_back(body.outputs[i]);
      } else if (has_effect(body.node(value.node))) {
        given.push_back(v);
      } else if (!nodes[size_t(value.node)]++) {
        const Node& n = body.node(value.node);
        open.insert(open.end(), n.inputs.begin(), n.inputs.end());
      }
    }
    std::sort(state.begin(), state.end());
    std::sort(fixed.begin(), fixed.end());
    std::sort(given.begin(), given.end());
  }
};

class Checkpointing {
 public:
  explicit Checkpointing(const LoopPair& pair)
      : p_(pair), needs_(*pair.body, pair.lists), listed_(pair.body->arguments.size(), false) {
    for (const PushedList& l : p_.lists) listed_[l.forward] = true;
    place_.assign(listed_.size(), -1);
    int64_t next = 0;
    for (size_t i = 0; i < listed_.size(); ++i)
      if (!listed_[i]) place_[i] = next++;
  }
  bool useful() const { return !needs_.state.empty(); }

  ValueId add_forward(const Node& old, GraphCopy& copy, Graph& to) const {
    std::vector<ValueId> inputs;
    std::vector<DType> dtypes;
    std::vector<Shape> shapes;
    for (size_t i = 0; i < listed_.size(); ++i) {
      if (listed_[i]) continue;
      inputs.push_back(copy[old.inputs[i]]);
      dtypes.push_back(p_.body->value(p_.body->arguments[i]).dtype);
      shapes.push_back(p_.body->value(p_.body->arguments[i]).shape);
    }
    dtypes.push_back(DType::kVariant);
    shapes.emplace_back();
    std::vector<int64_t> kept;
    for (const size_t i : needs_.state) kept.push_back(place_[i]);
    LoopLimits limits = limits_of(*p_.cond, *p_.body);
    for (auto* list : {&limits.counters, &limits.limits})
      for (int64_t& i : *list)
        if (i >= 0) i = place_[size_t(i)];
    const Attrs attrs{{"Tout", dtypes},
                      {"cond", BodyRef(condition())},
                      {"body", BodyRef(forward_body())},
                      {"kept", kept},
                      {"states", 0},
                      {"num_given", int64_t(needs_.given.size())},
                      {"counters", limits.counters},
                      {"limits", limits.limits},
                      {"numbers", limits.numbers},
                      {"strides", limits.strides}};
    const bool effects = effects_of(old).any();
    Node& made = to.node(to.add_node(find_op(effects ? "_KeepingWhile" : "_StatelessKeepingWhile"), attrs,
                                     inputs, dtypes, shapes));
    made.site = old.site;
    made.name = old.name;
    for (size_t i = 0; i < listed_.size(); ++i) {
      if (listed_[i]) continue;
      copy.set(old.outputs[i], made.outputs[size_t(place_[i])]);
    }
    return made.outputs[dtypes.size() - 1];
  }

  void add_back(const Node& old, const Node& forward, ValueId states, GraphCopy& copy, Graph& to) const {
    std::vector<ValueId> inputs{states};
    for (const size_t i : needs_.fixed) inputs.push_back(copy[forward.inputs[i]]);
    std::vector<DType> dtypes;
    std::vector<Shape> shapes;
    const std::vector<size_t> rest = back_variables();
    for (const size_t j : rest) {
      inputs.push_back(copy[old.inputs[j]]);
      dtypes.push_back(p_.back_body->value(p_.back_body->arguments[j]).dtype);
      shapes.push_back(p_.back_body->value(p_.back_body->arguments[j]).shape);
    }
    const Attrs attrs{{"Tout", dtypes},
                      {"advance", BodyRef(advance())},
                      {"body", BodyRef(back_body())},
                      {"num_fixed", int64_t(needs_.fixed.size())}};
    Node& made = to.node(to.add_node(find_op("_BackWhile"), attrs, inputs, dtypes, shapes));
    made.site = old.site;
    made.name = old.name;
    for (size_t k = 0; k < rest.size(); ++k) copy.set(old.outputs[rest[k]], made.outputs[k]);
  }

 private:
  std::vector<size_t> back_variables() const {
    std::vector<size_t> rest;
    for (size_t j = 1; j < p_.back_body->arguments.size(); ++j)
      if (std::none_of(p_.lists.begin(), p_.lists.end(), [&](const PushedList& l) { return l.back == j; }))
        rest.push_back(j);
    return rest;
  }

  void other_arguments(GraphCopy& copy, const Graph& from) const {
    for (size_t i = 0; i < listed_.size(); ++i)
      if (!listed_[i]) copy.argument(from.arguments[i], from.argument_names[i]);
  }

  std::shared_ptr<const Graph> condition() const {
    auto to = std::make_shared<Graph>();
    to->name = p_.cond->name;
    GraphCopy copy(*p_.cond, *to);
    other_arguments(copy, *p_.cond);
    for (size_t i = 0; i < p_.cond->nodes().size(); ++i) copy.node(NodeId(i));
    copy.outputs();
    return to;
  }

  std::shared_ptr<const Graph> forward_body() const {
    const Graph& from = *p_.body;
    auto to = std::make_shared<Graph>();
    to->name = from.name;
    GraphCopy copy(from, *to);
    other_arguments(copy, from);
    for (size_t i = 0; i < from.nodes().size(); ++i) {
      const bool push = std::any_of(p_.lists.begin(), p_.lists.end(), [&](const PushedList& l) {
        return from.value(from.outputs[l.forward]).node == NodeId(i);
      });
      if (!push) copy.node(NodeId(i));
    }
    for (size_t i = 0; i < listed_.size(); ++i)
      if (!listed_[i]) to->outputs.push_back(copy[from.outputs[i]]);
    for (const ValueId v : needs_.given) to->outputs.push_back(copy[v]);
    return to;
  }

  // The state, what stays the same, what effects gave; and what is computed from them.
  GraphCopy computed(Graph& to) const {
    GraphCopy copy(*p_.body, to);
    for (const size_t i : needs_.state) copy.argument(p_.body->arguments[i]);
    for (const size_t i : needs_.fixed) copy.argument(p_.body->arguments[i]);
    for (const ValueId v : needs_.given) copy.argument(v);
    for (size_t i = 0; i < needs_.nodes.size(); ++i)
      if (needs_.nodes[i]) copy.node(NodeId(i));
    return copy;
  }

  std::shared_ptr<const Graph> advance() const {
    Graph to;
    to.name = p_.body->name + "_again";
    const GraphCopy copy = computed(to);
    for (const size_t i : needs_.state) to.outputs.push_back(copy[p_.body->outputs[i]]);
    return std::make_shared<const Graph>(prune(to));
  }

  std::shared_ptr<const Graph> back_body() const {
    const Graph& from = *p_.back_body;
    Graph to;
    to.name = from.name;
    const GraphCopy values = computed(to);
    GraphCopy copy(from, to);
    for (const size_t j : back_variables()) copy.argument(from.arguments[j], from.argument_names[j]);
    for (const PushedList& l : p_.lists) copy.set(l.popped, values[l.pushed]);
    for (size_t i = 0; i < from.nodes().size(); ++i) {
      const Node& n = from.nodes()[i];
      bool pops = n.outputs.size() == 2 && copy.has(n.outputs[1]);
      pops |= !n.outputs.empty() && n.outputs[0] == from.outputs[0];  // the counter
      if (!pops) copy.node(NodeId(i));
    }
    for (const size_t j : back_variables()) to.outputs.push_back(copy[from.outputs[j]]);
    return std::make_shared<const Graph>(prune(to));
  }

  const LoopPair& p_;
  const Needs needs_;
  std::vector<bool> listed_;    // by loop variable: goes
  std::vector<int64_t> place_;  // by loop variable: its new place
};

bool wants_recomputation(const Node& n) {
  return any_node(*graph_attr(n, "body"), [](const Node& inner) { return inner.op->name == "_Recompute"; });
}

}  // namespace

Graph checkpoint_loops(Graph from, bool all) {
  const Uses uses(from);
  std::vector<LoopPair> pairs;
  for (size_t i = 0; i < from.nodes().size(); ++i) {
    std::optional<LoopPair> p = match(from, uses, NodeId(i));
    if (!p || !(all || wants_recomputation(from.node(p->forward)))) continue;
    // Of two loops that run back through one, the first.
    const bool taken = std::any_of(pairs.begin(), pairs.end(),
                                   [&](const LoopPair& other) { return other.forward == p->forward; });
    if (!taken && Checkpointing(*p).useful()) pairs.push_back(std::move(*p));
  }
  if (pairs.empty()) return from;
  std::vector<ValueId> states(pairs.size(), -1);
  return rewrite(from, [&](NodeId id, GraphCopy& copy, Graph& to) {
    for (size_t k = 0; k < pairs.size(); ++k) {
      const Checkpointing change(pairs[k]);
      if (pairs[k].forward == id) {
        states[k] = change.add_forward(from.node(id), copy, to);
        return;
      }
      if (pairs[k].back == id)
        return change.add_back(from.node(id), from.node(pairs[k].forward), states[k], copy, to);
    }
    copy.node(id);
  });
}

}  // namespace rw
