#include "rewind/function/call_again.h"

#include "rewind/autodiff/rule.h"
#include "rewind/compiler/passes/passes.h"
#include "rewind/graph/copy.h"
#include "rewind/op/table.h"
#include "rewind/tensor/thread_state.h"

namespace rw {

std::optional<CallAgain> split_effects(const Graph& graph) {
  const Graph g = inline_calls(graph);
  static const Op& read = find_op("ReadVariableOp");
  static const Op& given_read = find_op("_Given");
  auto first = std::make_shared<Graph>(g);
  auto again = std::make_shared<Graph>();
  first->name = g.name + "_first";
  again->name = g.name + "_again";
  GraphCopy copy(g, *again);
  copy.arguments();
  for (const Node& n : g.nodes()) {
    if (!n.op->stateful || !effects_of(n).any()) continue;
    const GradientRule* rule = find_gradient(*n.op);
    if (n.op != &read && rule && rule->fn) return {};
    for (const ValueId v : n.outputs) {
      first->outputs.push_back(v);
      copy.argument(v);
    }
  }
  for (size_t i = 0; i < g.nodes().size(); ++i) {
    const Node& n = g.nodes()[i];
    if (!n.op->stateful || !effects_of(n).any()) {
      copy.node(NodeId(i));
    } else if (n.op == &read) {  // the gradient still goes to the handle
      const ValueId v = n.outputs[0];
      const NodeId made = again->add_node(given_read, {}, std::vector<ValueId>{copy[v], copy[n.inputs[0]]});
      again->node(made).site = n.site;
      copy.set(v, again->node(made).outputs[0]);
    }
  }
  copy.outputs();
  auto whole = [](const std::shared_ptr<Graph>& graph) {
    return std::make_shared<const ConcreteFunction>(graph, graph->arguments.size(), std::vector<Tensor>(),
                                                    std::vector<Variable>());
  };
  return CallAgain{whole(first), whole(again)};
}

std::vector<Tensor> CallAgain::call(const std::vector<Tensor>& inputs, size_t num_results) const {
  std::vector<Tensor> outputs;
  {
    const StopRecording silent;
    outputs = (*first)(inputs);
  }
  std::vector<Tensor> all = inputs;
  all.insert(all.end(), outputs.begin() + int64_t(num_results), outputs.end());
  outputs.resize(num_results);
  for (Recorder* r = thread_state().recorders; r; r = r->outer)
    if (!r->paused)
      r->record_again(all, outputs, [f = again](const std::vector<Tensor>& in) { return (*f)(in); });
  return outputs;
}

bool heard_for_repeating() {
  const ThreadState& state = thread_state();
  bool any = false;
  for (const Recorder* r = state.recorders; r; r = r->outer) {
    if (r->paused) continue;
    if (!r->repeats() || r->depth != state.depth) return false;
    any = true;
  }
  return any;
}

}  // namespace rw
