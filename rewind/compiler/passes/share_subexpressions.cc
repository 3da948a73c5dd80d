#include <unordered_map>

#include "rewind/compiler/passes/passes.h"
#include "rewind/compiler/rewrite.h"
#include "rewind/graph/equal.h"

namespace rw {
namespace {

uint64_t mix(uint64_t h, uint64_t w) {
  h = (h ^ w) * 0xff51afd7ed558ccd;
  return h ^ h >> 32;
}

uint64_t hash_of_call(const Node& n, std::span<const ValueId> inputs) {
  uint64_t h = mix(reinterpret_cast<uint64_t>(n.op), uint64_t(n.region));
  for (const ValueId v : inputs) h = mix(h, uint64_t(v));
  return mix(h, hash_of(n.attrs));
}

}  // namespace

Graph share_subexpressions(Graph from) {
  std::unordered_multimap<uint64_t, NodeId> seen;  // nodes of the new graph
  std::unordered_map<ValueId, ValueId> reads;      // of variables, by handle, since the last write to each
  return rewrite_away(from, [&](NodeId id, GraphCopy& copy, Graph& to) {
    const Node& n = from.node(id);
    // Calls and loops whose functions have no effects are like any other node, whatever their row says.
    const Effects effects = n.op->stateful ? effects_of(n) : Effects();
    if (effects.any()) {
      if (n.op->name == "ReadVariableOp") {
        const auto [it, fresh] = reads.emplace(copy[n.inputs[0]], -1);
        if (fresh) it->second = to.node(copy.node(id)).outputs[0];
        else copy.set(n.outputs[0], it->second);
        return;
      }
      if (effects.other) reads.clear();
      if (effects.writes)
        for (const ValueId v : n.inputs) reads.erase(copy[v]);
      copy.node(id);
      return;
    }
    SmallVector<ValueId, 8> inputs;
    for (const ValueId v : n.inputs) inputs.push_back(copy[v]);
    const uint64_t h = hash_of_call(n, {inputs.data(), inputs.size()});
    const auto [begin, end] = seen.equal_range(h);
    for (auto it = begin; it != end; ++it) {
      const Node& other = to.node(it->second);
      if (other.op != n.op || other.region != n.region || other.inputs.size() != inputs.size() ||
          !std::equal(inputs.begin(), inputs.end(), other.inputs.begin()) || !equal(n.attrs, other.attrs))
        continue;
      for (size_t k = 0; k < n.outputs.size(); ++k) copy.set(n.outputs[k], other.outputs[k]);
      return;
    }
    seen.emplace(h, copy.node(id));
  });
}

}  // namespace rw
