#include "rewind/base/call_site.h"
#include "rewind/compiler/passes/passes.h"
#include "rewind/compiler/rewrite.h"

namespace rw {
namespace {

// The sizes of a call may not fit together: the user's mistake, found only now.
NodeId add_again(Graph& to, const Node& n, std::span<const ValueId> inputs) {
  try {
    return to.add_node(*n.op, n.attrs, inputs);
  } catch (const Error& e) {
    throw_with_places(e, {{"at", std::static_pointer_cast<const CallSite>(n.site)}});
  }
}

}  // namespace

Graph specialise(const Graph& from, std::span<const Shape> arguments) {
  Graph to;
  to.name = from.name;
  GraphCopy copy(from, to);
  copy.arguments();
  for (size_t i = 0; i < arguments.size(); ++i) to.value(to.arguments[i]).shape = arguments[i];
  for (const Node& n : from.nodes()) {
    SmallVector<ValueId, 8> inputs;
    for (const ValueId v : n.inputs) inputs.push_back(copy[v]);
    Node& made = to.node(add_again(to, n, {inputs.data(), inputs.size()}));
    made.name = n.name;
    made.site = n.site;
    made.region = n.region;
    for (size_t k = 0; k < n.outputs.size(); ++k) {
      const GraphValue& before = from.value(n.outputs[k]);
      GraphValue& now = to.value(made.outputs[k]);
      if (!now.shape.fully_known() && before.shape.fully_known()) now.shape = before.shape;
      now.variable = before.variable;
      copy.set(n.outputs[k], made.outputs[k]);
    }
  }
  copy.outputs();
  return to;
}

}  // namespace rw
