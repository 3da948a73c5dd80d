#include <algorithm>

#include "rewind/base/error.h"
#include "rewind/compiler/passes/passes.h"
#include "rewind/compiler/rewrite.h"
#include "rewind/runtime/constant.h"
#include "rewind/runtime/eager.h"

namespace rw {
namespace {

constexpr int64_t kMostElements = 4096;

bool small_and_plain(const GraphValue& v) {
  return v.shape.fully_known() && v.shape.num_elements() <= kMostElements && !is_host_only(v.dtype);
}

// Whether a node's results are known, or follow from inputs that are.
bool something_folds(const Graph& g) {
  return std::any_of(g.nodes().begin(), g.nodes().end(), [&](const Node& n) {
    if (n.op->stateful || n.op->name == "Const" || n.outputs.empty()) return false;
    const auto known = [&](ValueId v) { return g.value(v).known->data != nullptr; };
    return std::all_of(n.outputs.begin(), n.outputs.end(), known) ||
           std::all_of(n.inputs.begin(), n.inputs.end(), known);
  });
}

}  // namespace

Graph fold_small_constants(Graph from) {
  if (!something_folds(from)) return from;
  return rewrite_away(from, [&](NodeId id, GraphCopy& copy, Graph& to) {
    const Node& n = from.node(id);
    if (n.op->name == "Const") {
      copy.node(id);
      return;
    }
    bool all_known = !n.outputs.empty() && !n.op->stateful;
    for (const ValueId v : n.outputs) all_known &= from.value(v).known->data != nullptr;
    if (all_known) {
      for (const ValueId v : n.outputs) copy.set(v, to.add_constant(from.value(v).known));
      return;
    }
    // Constants that earlier folding made are known in the new graph.
    bool fold = !n.op->stateful && !n.op->runtime && !n.inputs.empty();
    for (const ValueId v : n.inputs) {
      const GraphValue& now = to.value(copy[v]);
      fold &= now.known->data != nullptr && small_and_plain(now);
    }
    for (const ValueId v : n.outputs) fold &= small_and_plain(from.value(v));
    if (!fold) {
      copy.node(id);
      return;
    }
    SmallVector<Value, 4> inputs;
    SmallVector<const Value*, 4> pointers;
    for (const ValueId v : n.inputs) inputs.push_back(as_value(to.value(copy[v]).known));
    for (const Value& v : inputs) pointers.push_back(&v);
    try {
      const ValueList results = run_eager(*n.op, n.attrs, {pointers.data(), pointers.size()});
      for (size_t k = 0; k < n.outputs.size(); ++k)
        copy.set(n.outputs[k], to.add_constant(as_constant(results[k])));
    } catch (const Error&) {
      copy.node(id);  // it fails when it runs, if it runs
    }
  });
}

Graph fold_constants(Graph graph) { return fold_large_constants(fold_small_constants(std::move(graph))); }

}  // namespace rw
