// The gradients of If, Case and calls: the same choice between the branches' derivatives, which compute their
// branch again from the inputs. Results of effects are not computed again: the forward node is extended to
// give them out, in a list that only the branch that ran has filled.
#include "rewind/autodiff/grad_ops.h"
#include "rewind/base/error.h"
#include "rewind/function/branches.h"
#include "rewind/function/control_node.h"
#include "rewind/function/control_rules.h"
#include "rewind/function/derivative.h"
#include "rewind/function/staging.h"

namespace rw {
namespace {

using Key = ControlNode::Key;

ValueId add_empty_list(Graph& g, const GraphValue& of) {
  const DType dtype = of.dtype;
  const ValueId shape = g.add_constant(element_shape_of(of.shape));
  const ValueId most = g.add_constant(host_scalar(-1));
  return g.node(g.add_node(find_op("EmptyTensorList"), {{"element_dtype", dtype}}, {{shape, most}}))
      .outputs[0];
}

// Makes the forward node give out values from inside its branches.
void keep(const GradContext& g, const std::optional<ControlNode>& node, const std::vector<Derivative>& d,
          const std::vector<Key>& keys) {
  if (!node)
    fail_unimplemented(
        g.op().tag,
        "the gradient of branches that read or write state and ran eagerly, outside a function: "
        "running them again would repeat their effects; call them in an rw::function");
  std::vector<Key> missing;
  for (const Key& key : keys)
    if (!node->kept(key).defined()) missing.push_back(key);
  if (missing.empty()) return;
  const bool call = row_of(g.op()) == BranchRow::kCall;
  NodeExtension e;
  for (const auto& [b, v] : missing) {
    const GraphValue value = d[size_t(b)].forward->value(v);
    e.dtypes.push_back(call ? value.dtype : DType::kVariant);
    e.shapes.push_back(call ? value.shape : Shape());
    for (size_t k = 0; k < d.size(); ++k) {
      Graph& body = *d[k].forward;
      ValueId out = v;
      if (!call) out = add_empty_list(body, value);
      if (!call && int(k) == b)
        out = body.node(body.add_node(find_op("TensorListPushBack"), {}, {{out, v}})).outputs[0];
      body.outputs.push_back(out);
    }
  }
  std::vector<BodyRef> branches;
  for (const Derivative& one : d) branches.emplace_back(one.forward);
  e.attrs = with_branches(node->op(), node->attrs(), branches, d[0].forward->output_types());
  if (row_of(g.op()) != BranchRow::kCall) e.attrs = e.attrs.with("output_shapes", std::vector<Shape>());
  node->extend(e, missing);
}

}  // namespace

void branch_gradient(GradContext& g) {
  const bool call = row_of(g.op()) == BranchRow::kCall;
  const int first = call ? 0 : 1;  // behind the choice
  const std::vector<BodyRef> bodies = branches_of(g.op(), g.attrs());
  const Graph& like = graph_of(*bodies[0]);
  std::vector<size_t> wanted, seeds;
  for (size_t i = 0; i < like.arguments.size(); ++i) {
    bool possible = false;
    for (const BodyRef& b : bodies) possible |= takes_gradient(graph_of(*b).value(graph_of(*b).arguments[i]));
    if (g.wants(int(i) + first) && possible) wanted.push_back(i);
  }
  for (size_t i = 0; i < like.outputs.size(); ++i)
    if (g.has_grad(int(i)) && takes_gradient(like.value(like.outputs[i]).dtype)) seeds.push_back(i);
  if (wanted.empty() || seeds.empty()) return;

  const std::optional<ControlNode> node = ControlNode::find(g);
  const std::vector<BodyRef> current = node ? branches_of(node->op(), node->attrs()) : bodies;
  std::vector<Derivative> d;
  for (size_t b = 0; b < bodies.size(); ++b)
    d.push_back(differentiate(graph_of(*bodies[b]), graph_of(*current[b]), wanted, seeds));
  std::vector<size_t> chosen;  // inputs that some branch has a gradient for
  for (size_t k = 0; k < wanted.size(); ++k) {
    bool any = false;
    for (const Derivative& one : d) any |= one.given[k];
    if (any) chosen.push_back(k);
  }
  if (chosen.empty()) return;
  std::vector<Key> keys;
  for (size_t b = 0; b < d.size(); ++b)
    for (const size_t i : d[b].needed_for(chosen))
      if (d[b].arguments[i].kind == DerivativeArgument::kKept)
        keys.emplace_back(int(b), d[b].arguments[i].kept);
  if (!keys.empty()) keep(g, node, d, keys);

  // All branches of the derivative take the union of what each needs.
  std::vector<Tensor> inputs;
  std::vector<std::shared_ptr<Graph>> backs;
  for (size_t b = 0; b < d.size(); ++b) {
    backs.push_back(std::make_shared<Graph>());
    backs.back()->name = d[b].graph->name;
  }
  std::map<const TensorImpl*, size_t> place;
  auto input = [&](const Tensor& t) {
    const auto [it, fresh] = place.emplace(t.impl(), inputs.size());
    if (fresh) {
      inputs.push_back(t);
      for (const auto& back : backs) {
        const ValueId v = back->add_argument(t.dtype(), t.shape());
        back->value(v).variable = variable_behind(t);
      }
    }
    return it->second;
  };
  struct Use {
    ValueId value;   // an argument of the derivative
    size_t at;       // the input
    bool from_list;  // its only element is meant
  };
  std::vector<std::vector<Use>> uses(d.size());
  for (size_t b = 0; b < d.size(); ++b) {
    for (const size_t i : d[b].needed_for(chosen)) {
      const DerivativeArgument& a = d[b].arguments[i];
      Tensor t;
      switch (a.kind) {
        case DerivativeArgument::kArgument: t = g.input(int(a.index) + first); break;
        case DerivativeArgument::kSeed: t = g.grad(int(seeds[a.index])); break;
        case DerivativeArgument::kKept: t = node->kept({int(b), a.kept}); break;
        case DerivativeArgument::kCapture: t = a.captured; break;
      }
      uses[b].push_back({d[b].graph->arguments[i], input(t), !call && a.kind == DerivativeArgument::kKept});
    }
  }
  std::vector<BodyRef> branches;
  for (size_t b = 0; b < d.size(); ++b) {
    Graph& back = *backs[b];
    GraphCopy copy(*d[b].graph, back);
    for (const auto& [v, at, from_list] : uses[b]) {
      const GraphValue& was = d[b].graph->value(v);
      ValueId here = back.arguments[at];
      if (from_list) {
        const ValueId shape = back.add_constant(element_shape_of(was.shape));
        here = back.node(back.add_node(find_op("TensorListPopBack"), {{"element_dtype", was.dtype}},
                                       {{here, shape}}))
                   .outputs[1];
      } else {
        back.value(here).known = was.known;
      }
      copy.set(v, here);
    }
    d[b].copy_into(copy, chosen);
    for (const size_t k : chosen) back.outputs.push_back(copy[d[b].graph->outputs[k]]);
    branches.emplace_back(backs[b]);
  }
  if (!call) inputs.insert(inputs.begin(), g.input(0));
  const char* name = call ? "StatefulPartitionedCall" : row_of(g.op()) == BranchRow::kIf ? "If" : "Case";
  const Attrs attrs = with_branches(g.op(), {}, branches, backs[0]->output_types());
  const Tensors results = apply_control(name, inputs, attrs);
  for (size_t k = 0; k < chosen.size(); ++k) g.set(int(wanted[chosen[k]]) + first, results[k]);
}

}  // namespace rw
