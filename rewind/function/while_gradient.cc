// The gradient of While. The loop runs once more backwards: each step computes the body again from the values
// that the loop variables had, and differentiates it. The forward loop is extended by lists onto which every
// step pushes what the backward loop needs and cannot compute: those values, and results of effects.
#include "rewind/autodiff/grad_ops.h"
#include "rewind/base/error.h"
#include "rewind/function/control_node.h"
#include "rewind/function/control_rules.h"
#include "rewind/function/derivative.h"
#include "rewind/function/staging.h"
#include "rewind/tensor/ops/list.h"

namespace rw {
namespace {

using Key = ControlNode::Key;
constexpr ValueId kCounter = -1;  // the key of the number of iterations

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

// A loop variable that collects a value of the body, or counts.
void add_list(Graph& cond, Graph& body, ValueId value) {
  const bool counter = value == kCounter;
  const DType dtype = counter ? DType::kInt32 : DType::kVariant;
  const ValueId argument = body.add_argument(dtype, {});
  cond.add_argument(dtype, {});
  ValueId next;
  if (counter) {
    const ValueId one = body.add_constant(host_scalar(1));
    next = body.node(body.add_node(find_op("AddV2"), {}, {{argument, one}})).outputs[0];
  } else {
    next = body.node(body.add_node(find_op("TensorListPushBack"), {}, {{argument, value}})).outputs[0];
  }
  body.outputs.push_back(next);
}

Tensor empty_list_of(const GraphValue& v) {
  const HostTensor shape = element_shape_of(v.shape);
  return empty_tensor_list(tensor_from_bytes(shape.data.get(), DType::kInt32, shape.shape), v.dtype,
                           constant(-1));
}

using Kept = std::map<ValueId, Tensor>;  // the list of a value, or the counter

// The lists of these values of the body: those that the forward loop has, and others by which it is extended.
Kept keep(GradContext& g, const std::optional<ControlNode>& node, const Derivative& d,
          const std::vector<ValueId>& values) {
  Kept result;
  std::vector<ValueId> missing;
  for (const ValueId v : values) {
    const Tensor known = node ? node->kept({0, v}) : Tensor();
    if (known.defined()) result[v] = known;
    else missing.push_back(v);
  }
  if (missing.empty()) return result;
  const Attrs& attrs = node ? node->attrs() : g.attrs();
  const auto cond = std::make_shared<Graph>(*graph_ref(attr_as<BodyRef>(g.op(), attrs, "cond")));
  NodeExtension e;
  std::vector<Key> keys;
  for (const ValueId v : missing) {
    add_list(*cond, *d.forward, v);
    e.dtypes.push_back(v == kCounter ? DType::kInt32 : DType::kVariant);
    e.shapes.emplace_back();
    keys.emplace_back(0, v);
  }
  auto shapes = attr_as<std::vector<Shape>>(g.op(), attrs, "output_shapes");
  if (!shapes.empty()) shapes.insert(shapes.end(), missing.size(), Shape());
  e.attrs = attrs.with("cond", BodyRef(cond)).with("body", BodyRef(d.forward)).with("output_shapes", shapes);
  if (node) {
    Graph& around = node->graph();
    for (const ValueId v : missing) {
      if (v == kCounter) {
        e.inputs.push_back(around.add_constant(host_scalar(0)));
        continue;
      }
      const GraphValue& value = d.forward->value(v);
      const ValueId shape = around.add_constant(element_shape_of(value.shape));
      const ValueId most = around.add_constant(host_scalar(-1));
      const NodeId list =
          around.add_node(find_op("EmptyTensorList"), {{"element_dtype", value.dtype}}, {{shape, most}});
      e.inputs.push_back(around.node(list).outputs[0]);
    }
    node->extend(e, keys);
    for (const ValueId v : missing) result[v] = node->kept({0, v});
    return result;
  }
  // Without a node to extend the loop runs again.
  if (effects_of(g.op(), attrs).any())
    fail_unimplemented(
        "while_loop",
        "the gradient of a loop that reads or writes state and ran eagerly, outside a function: "
        "running it again would repeat its effects; call it in an rw::function");
  std::vector<Tensor> inputs;
  for (int i = 0; i < g.num_inputs(); ++i) inputs.push_back(g.input(i));
  for (const ValueId v : missing) {
    const GraphValue* value = v == kCounter ? nullptr : &d.forward->value(v);
    inputs.push_back(value ? empty_list_of(*value) : constant(0));
  }
  const Tensors again = rw::apply(control_row(g.op(), e.attrs), inputs, e.attrs);
  for (size_t i = 0; i < missing.size(); ++i) result[missing[i]] = again[again.size() - missing.size() + i];
  return result;
}

}  // namespace

void while_gradient(GradContext& g) {
  const std::shared_ptr<const Graph> body = graph_ref(g.attr<BodyRef>("body"));
  const std::vector<size_t> followed = followed_variables(g, *body);
  if (followed.empty()) return;
  const std::optional<ControlNode> node = ControlNode::find(g);
  const std::shared_ptr<const Graph> current =
      node ? graph_ref(attr_as<BodyRef>(g.op(), node->attrs(), "body")) : body;
  std::vector<size_t> seeds;  // loop variables that change; their gradients go from step to step
  for (const size_t i : followed)
    if (!invariant(*body, i)) seeds.push_back(i);
  const Derivative d = differentiate(*body, *current, followed, seeds);

  // Outputs of the derivative that the backward loop computes: all of variables that change, and what adds to
  // the gradients of invariants.
  std::vector<size_t> chosen;
  for (size_t k = 0; k < followed.size(); ++k)
    if (d.given[k] || !invariant(*body, followed[k])) chosen.push_back(k);
  const std::vector<size_t> needed = d.needed_for(chosen);
  std::vector<ValueId> lists;
  for (const size_t i : needed) {
    const DerivativeArgument& a = d.arguments[i];
    if (a.kind == DerivativeArgument::kKept) lists.push_back(a.kept);
    if (a.kind == DerivativeArgument::kArgument && !invariant(*body, a.index))
      lists.push_back(body->arguments[a.index]);
  }
  std::vector<ValueId> kept = lists;
  kept.push_back(kCounter);
  const Kept saved = keep(g, node, d, kept);

  // The backward loop: its variables are the counter, gradients in the order of `chosen`, lists, and what
  // stays the same.
  auto back = std::make_shared<Graph>();
  back->name = body->name + "_backward";
  auto more = std::make_shared<Graph>();
  more->name = body->name + "_backward_cond";
  GraphCopy copy(*d.graph, *back);
  std::vector<Tensor> inputs;
  auto variable = [&](const Tensor& initial, const Shape& shape) {
    inputs.push_back(initial);
    more->add_argument(initial.dtype(), shape);
    return back->add_argument(initial.dtype(), shape);
  };
  const ValueId counter = variable(saved.at(kCounter), {});
  std::vector<ValueId> gradients;
  for (const size_t k : chosen) {
    const size_t i = followed[k];
    const GraphValue& v = body->value(body->arguments[i]);
    const bool changes = !invariant(*body, i);
    const Tensor initial = g.has_grad(int(i)) || changes ? g.grad(int(i)) : zero_gradient(g.input(int(i)));
    gradients.push_back(variable(initial, v.dtype == DType::kResource ? initial.shape() : v.shape));
  }
  std::map<ValueId, ValueId> list_at;
  for (const ValueId v : lists) list_at.emplace(v, variable(saved.at(v), {}));
  for (const size_t i : needed) {
    const DerivativeArgument& a = d.arguments[i];
    const bool fixed = a.kind == DerivativeArgument::kArgument && invariant(*body, a.index);
    if (!fixed && a.kind != DerivativeArgument::kCapture) continue;
    const Tensor& t = fixed ? g.input(int(a.index)) : a.captured;
    const GraphValue& v = d.graph->value(d.graph->arguments[i]);
    const ValueId here = variable(t, v.shape);
    back->value(here).variable = v.variable;
    back->value(here).known = v.known;
    copy.set(d.graph->arguments[i], here);
  }
  const size_t num_arguments = back->arguments.size();

  // A step: take the values of the iteration from the lists, differentiate, add up.
  std::map<ValueId, ValueId> shorter, popped;
  for (const auto& [v, list] : list_at) {
    const GraphValue& value = d.forward->value(v);
    const ValueId shape = back->add_constant(element_shape_of(value.shape));
    const NodeId pop =
        back->add_node(find_op("TensorListPopBack"), {{"element_dtype", value.dtype}}, {{list, shape}});
    shorter[v] = back->node(pop).outputs[0];
    popped[v] = back->node(pop).outputs[1];
  }
  for (const size_t i : needed) {
    const DerivativeArgument& a = d.arguments[i];
    const ValueId here = d.graph->arguments[i];
    if (a.kind == DerivativeArgument::kKept) copy.set(here, popped.at(a.kept));
    if (a.kind == DerivativeArgument::kArgument && !copy.has(here))
      copy.set(here, popped.at(body->arguments[a.index]));
    if (a.kind == DerivativeArgument::kSeed)
      for (size_t k = 0; k < chosen.size(); ++k)
        if (followed[chosen[k]] == seeds[a.index]) copy.set(here, gradients[k]);
  }
  d.copy_into(copy, chosen);
  const ValueId one = back->add_constant(host_scalar(1));
  back->outputs.push_back(back->node(back->add_node(find_op("Sub"), {}, {{counter, one}})).outputs[0]);
  for (size_t k = 0; k < chosen.size(); ++k) {
    ValueId next = copy[d.graph->outputs[chosen[k]]];
    if (invariant(*body, followed[chosen[k]])) {
      const Op& add = find_op(back->value(next).dtype == DType::kVariant ? "AddN" : "AddV2");
      next = back->node(back->add_node(add, {}, {{gradients[k], next}})).outputs[0];
    }
    back->outputs.push_back(next);
  }
  for (size_t i = back->outputs.size(); i < num_arguments; ++i) back->outputs.push_back(back->arguments[i]);
  for (const auto& [v, list] : list_at) back->outputs[size_t(back->value(list).index)] = shorter.at(v);

  const ValueId zero = more->add_constant(host_scalar(0));
  more->outputs.push_back(
      more->node(more->add_node(find_op("Greater"), {}, {{more->arguments[0], zero}})).outputs[0]);
  std::vector<Shape> shapes;
  for (const ValueId v : back->arguments) shapes.push_back(back->value(v).shape);
  const Tensors results = apply_control(
      "While", inputs, {{"cond", BodyRef(more)}, {"body", BodyRef(back)}, {"output_shapes", shapes}});
  for (size_t k = 0; k < followed.size(); ++k)
    if (!d.given[k] && invariant(*body, followed[k]) && g.wants(int(followed[k])))
      g.set(int(followed[k]), g.raw_grad(int(followed[k])));
  for (size_t k = 0; k < chosen.size(); ++k)
    if (const int i = int(followed[chosen[k]]); g.wants(i)) g.set(i, results[k + 1]);
}

}  // namespace rw
