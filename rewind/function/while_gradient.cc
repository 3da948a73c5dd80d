// The gradient of While. The loop runs once more backwards: each step computes the body again from the values
// that the loop variables had, and differentiates it. The forward loop is extended by lists onto which every
// step pushes what the backward loop needs and cannot compute: those values, and results of effects.
#include "rewind/autodiff/rule.h"
#include "rewind/function/control_node.h"
#include "rewind/function/control_rules.h"
#include "rewind/function/derivative.h"
#include "rewind/function/loop_lists.h"
#include "rewind/function/staging.h"

namespace rw {
namespace {

bool invariant(const Graph& body, size_t i) { return body.outputs[i] == body.arguments[i]; }

// Which results of the body depend on which arguments.
std::vector<bool> reached_from(const Graph& g, const std::vector<bool>& arguments) {
  std::vector<uint8_t> on(g.num_values(), 0);
  for (size_t i = 0; i < arguments.size(); ++i) on[size_t(g.arguments[i])] = arguments[i];
  for (const Node& n : g.nodes()) {
    bool any = false;
    for (const ValueId v : n.inputs) any |= on[size_t(v)] != 0;
    for (const ValueId v : n.outputs) on[size_t(v)] = any;
  }
  std::vector<bool> results;
  for (const ValueId v : g.outputs) results.push_back(on[size_t(v)] != 0);
  return results;
}
std::vector<bool> reaching(const Graph& g, const std::vector<bool>& outputs) {
  std::vector<uint8_t> on(g.num_values(), 0);
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i]) on[size_t(g.outputs[i])] = 1;
  for (size_t k = g.nodes().size(); k-- > 0;) {
    bool any = false;
    for (const ValueId v : g.nodes()[k].outputs) any |= on[size_t(v)] != 0;
    if (!any) continue;
    for (const ValueId v : g.nodes()[k].inputs) on[size_t(v)] = 1;
  }
  std::vector<bool> results;
  for (const ValueId v : g.arguments) results.push_back(on[size_t(v)] != 0);
  return results;
}

// The loop variables that gradients run through: some wanted input reaches them, and they reach an output
// whose gradient is given, over any number of iterations.
std::vector<size_t> followed_variables(const GradContext& g, const Graph& body) {
  const size_t n = body.arguments.size();
  std::vector<bool> from(n), to(n), possible(n);
  for (size_t i = 0; i < n; ++i) {
    possible[i] = takes_gradient(body.value(body.arguments[i]));
    from[i] = g.wants(int(i)) && possible[i];
    to[i] = g.has_grad(int(i)) && possible[i];
  }
  auto grow = [&](std::vector<bool>& set, auto step) {
    for (bool changed = true; changed;) {
      changed = false;
      const std::vector<bool> next = step(body, set);
      for (size_t i = 0; i < n; ++i)
        if (next[i] && possible[i] && !set[i]) set[i] = changed = true;
    }
  };
  grow(from, reached_from);
  grow(to, reaching);
  std::vector<size_t> list;
  for (size_t i = 0; i < n; ++i)
    if (from[i] && to[i]) list.push_back(i);
  return list;
}

// The loop that runs backwards. Its variables: the counter, the gradients that it computes, the lists, and
// what stays the same.
class BackwardLoop {
 public:
  BackwardLoop(GradContext& g, const Graph& body, const Derivative& d, const std::vector<size_t>& followed,
               const std::vector<size_t>& seeds)
      : g_(g), body_(body), d_(d), followed_(followed), seeds_(seeds), copy_(*d.graph, *back_) {
    back_->name = body.name + "_backward";
    more_->name = body.name + "_backward_cond";
    for (size_t k = 0; k < followed.size(); ++k)
      if (d.given[k] || !invariant(body, followed[k])) chosen_.push_back(k);
    needed_ = d.needed_for(chosen_);
  }

  // Values of the forward body that it takes from lists.
  std::vector<ValueId> listed() const {
    std::vector<ValueId> values;
    for (const size_t i : needed_) {
      const DerivativeArgument& a = d_.arguments[i];
      if (a.kind == DerivativeArgument::kKept) values.push_back(a.kept);
      if (a.kind == DerivativeArgument::kArgument && !invariant(body_, a.index))
        values.push_back(body_.arguments[a.index]);
    }
    return values;
  }

  void run(const KeptLists& kept) {
    add_variables(kept);
    const size_t num_variables = back_->arguments.size();
    take_from_lists();
    d_.copy_into(copy_, chosen_);
    add_results(num_variables);
    const ValueId zero = more_->add_constant(host_scalar(0));
    more_->outputs.push_back(made(*more_, "Greater", {more_->arguments[0], zero}));
    std::vector<Shape> shapes;
    for (const ValueId v : back_->arguments) shapes.push_back(back_->value(v).shape);
    const Tensors results = apply_control(
        "While", inputs_, {{"cond", BodyRef(more_)}, {"body", BodyRef(back_)}, {"output_shapes", shapes}});
    for (size_t k = 0; k < chosen_.size(); ++k)
      if (const int i = int(followed_[chosen_[k]]); g_.wants(i)) g_.set(i, results[k + 1]);
    // An invariant that no iteration uses has the gradient that its output got.
    for (size_t k = 0; k < followed_.size(); ++k)
      if (const int i = int(followed_[k]); !d_.given[k] && invariant(body_, followed_[k]) && g_.wants(i))
        g_.set(i, g_.raw_grad(i));
  }

 private:
  static ValueId made(Graph& g, const char* op, std::initializer_list<ValueId> inputs) {
    return g.node(g.add_node(find_op(op), {}, {inputs.begin(), inputs.size()})).outputs[0];
  }
  ValueId variable(const Tensor& initial, const Shape& shape) {
    inputs_.push_back(initial);
    more_->add_argument(initial.dtype(), shape);
    return back_->add_argument(initial.dtype(), shape);
  }

  void add_variables(const KeptLists& kept) {
    counter_ = variable(kept.at(kCounter), {});
    for (const size_t k : chosen_) {
      const int i = int(followed_[k]);
      const GraphValue& v = body_.value(body_.arguments[followed_[k]]);
      const bool changes = !invariant(body_, followed_[k]);
      const Tensor initial = g_.has_grad(i) || changes ? g_.grad(i) : zero_gradient(g_.input(i));
      gradients_.push_back(variable(initial, v.dtype == DType::kResource ? initial.shape() : v.shape));
    }
    for (const ValueId v : listed()) lists_.emplace(v, variable(kept.at(v), {}));
    for (const size_t i : needed_) {
      const DerivativeArgument& a = d_.arguments[i];
      const bool fixed = a.kind == DerivativeArgument::kArgument && invariant(body_, a.index);
      if (!fixed && a.kind != DerivativeArgument::kCapture) continue;
      const GraphValue& v = d_.graph->value(d_.graph->arguments[i]);
      const ValueId here = variable(fixed ? g_.input(int(a.index)) : a.captured, v.shape);
      back_->value(here).variable = v.variable;
      back_->value(here).known = v.known;
      copy_.set(d_.graph->arguments[i], here);
    }
  }

  // The values of this iteration, and the gradients that came from the one behind it.
  void take_from_lists() {
    std::map<ValueId, ValueId> popped;
    for (const auto& [v, list] : lists_) {
      const GraphValue& value = d_.forward->value(v);
      const ValueId shape = back_->add_constant(element_shape_of(value.shape));
      const NodeId pop =
          back_->add_node(find_op("TensorListPopBack"), {{"element_dtype", value.dtype}}, {{list, shape}});
      shorter_[list] = back_->node(pop).outputs[0];
      popped[v] = back_->node(pop).outputs[1];
    }
    for (const size_t i : needed_) {
      const DerivativeArgument& a = d_.arguments[i];
      const ValueId here = d_.graph->arguments[i];
      if (a.kind == DerivativeArgument::kKept) copy_.set(here, popped.at(a.kept));
      if (a.kind == DerivativeArgument::kArgument && !copy_.has(here))
        copy_.set(here, popped.at(body_.arguments[a.index]));
      if (a.kind == DerivativeArgument::kSeed)
        for (size_t k = 0; k < chosen_.size(); ++k)
          if (followed_[chosen_[k]] == seeds_[a.index]) copy_.set(here, gradients_[k]);
    }
  }

  void add_results(size_t num_variables) {
    const ValueId one = back_->add_constant(host_scalar(1));
    back_->outputs.push_back(made(*back_, "Sub", {counter_, one}));
    for (size_t k = 0; k < chosen_.size(); ++k) {
      ValueId next = copy_[d_.graph->outputs[chosen_[k]]];
      if (invariant(body_, followed_[chosen_[k]]))  // gradients of all iterations add up
        next = made(*back_, back_->value(next).dtype == DType::kVariant ? "AddN" : "AddV2",
                    {gradients_[k], next});
      back_->outputs.push_back(next);
    }
    for (size_t i = back_->outputs.size(); i < num_variables; ++i) {
      const auto list = shorter_.find(back_->arguments[i]);
      back_->outputs.push_back(list == shorter_.end() ? back_->arguments[i] : list->second);
    }
  }

  GradContext& g_;
  const Graph& body_;
  const Derivative& d_;
  const std::vector<size_t>& followed_;  // loop variables that gradients run through
  const std::vector<size_t>& seeds_;     // those among them that change
  const std::shared_ptr<Graph> back_ = std::make_shared<Graph>();
  const std::shared_ptr<Graph> more_ = std::make_shared<Graph>();
  GraphCopy copy_;              // from the derivative to back_
  std::vector<size_t> chosen_;  // outputs of the derivative that it computes
  std::vector<size_t> needed_;  // arguments of the derivative that these need
  std::vector<Tensor> inputs_;
  ValueId counter_ = -1;
  std::vector<ValueId> gradients_;      // one per chosen_
  std::map<ValueId, ValueId> lists_;    // by value of the forward body
  std::map<ValueId, ValueId> shorter_;  // a list without its last element
};

}  // namespace

void while_gradient(GradContext& g) {
  const std::shared_ptr<const Graph> body = graph_ref(g.attr<BodyRef>("body"));
  const std::vector<size_t> followed = followed_variables(g, *body);
  if (followed.empty()) return;
  const std::optional<ControlNode> node = ControlNode::find(g);
  const std::shared_ptr<const Graph> current =
      node ? graph_ref(attr_as<BodyRef>(g.op(), node->attrs(), "body")) : body;
  std::vector<size_t> seeds;
  for (const size_t i : followed)
    if (!invariant(*body, i)) seeds.push_back(i);
  const Derivative d = differentiate(*body, *current, followed, seeds);
  BackwardLoop loop(g, *body, d, followed, seeds);
  std::vector<ValueId> kept = loop.listed();
  kept.push_back(kCounter);
  loop.run(keep_in_lists(g, node, d, kept));
}

}  // namespace rw
