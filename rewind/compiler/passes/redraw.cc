// A random op that a region reads is cut in two: an effect that advances the stream, and a pure draw from
// where it stood, which each region makes for itself. The region then keeps a counter alive instead of the
// draw. Under a budget every random op is cut so: its draw can then be made again.
#include <map>

#include "rewind/compiler/passes/passes.h"
#include "rewind/compiler/rewrite.h"
#include "rewind/op/table.h"

namespace rw {
namespace {

const Op* keyed_form(const Op& op) {
  static const auto& forms = *new std::map<std::string_view, const Op*>{
      {"RandomUniform", &find_op("StatelessRandomUniformV2")},
      {"RandomStandardNormal", &find_op("StatelessRandomNormalV2")},
      {"TruncatedNormal", &find_op("StatelessTruncatedNormalV2")},
      {"RandomUniformInt", &find_op("StatelessRandomUniformIntV2")}};
  const auto it = forms.find(op.name);
  return it == forms.end() ? nullptr : it->second;
}

struct Draws {
  ValueId key, counter, algorithm;
  std::map<int32_t, ValueId> draws;  // by region
};

}  // namespace

Graph redraw(Graph from, std::span<size_t> marks, bool all) {
  std::map<ValueId, Draws> streams;  // by the value drawn
  for (const Node& n : from.nodes()) {
    if (all && keyed_form(*n.op)) streams.emplace(n.outputs[0], Draws());
    for (const ValueId v : n.inputs) {
      const Node* maker = from.producer(v);
      if (maker && maker->region != n.region && keyed_form(*maker->op)) streams.emplace(v, Draws());
    }
  }
  if (streams.empty()) return from;
  const std::vector<size_t> before(marks.begin(), marks.end());
  const auto draw = [&](const Node& n, const Draws& s, const GraphCopy& copy, Graph& to) {
    std::vector<ValueId> inputs{copy[n.inputs[0]], s.key, s.counter, s.algorithm};
    for (size_t i = 1; i < n.inputs.size(); ++i) inputs.push_back(copy[n.inputs[i]]);
    const DType dtype = from.value(n.outputs[0]).dtype;
    const NodeId made = to.add_node(*keyed_form(*n.op), {{"dtype", dtype}}, inputs, {{dtype}},
                                    {{from.value(n.outputs[0]).shape}});
    to.node(made).site = n.site;
    return to.node(made).outputs[0];
  };
  return rewrite(from, [&](NodeId id, GraphCopy& copy, Graph& to) {
    for (size_t k = 0; k < marks.size(); ++k)
      if (before[k] == size_t(id)) marks[k] = to.nodes().size();
    const Node& n = from.node(id);
    if (const auto it = n.outputs.empty() ? streams.end() : streams.find(n.outputs[0]); it != streams.end()) {
      static const Op& reserve = find_op("_ReserveRandom");
      const DType dtype = from.value(n.outputs[0]).dtype;
      const NodeId made = to.add_node(reserve,
                                      {{"seed", attr_as<int64_t>(*n.op, n.attrs, "seed")},
                                       {"seed2", attr_as<int64_t>(*n.op, n.attrs, "seed2")},
                                       {"op", n.op->name},
                                       {"dtype", dtype}},
                                      std::vector<ValueId>{copy[n.inputs[0]]});
      Draws& s = it->second;
      s.key = to.node(made).outputs[0];
      s.counter = to.node(made).outputs[1];
      s.algorithm = to.add_constant({DType::kInt32, {}, std::make_shared<const int32_t>(1)});
      copy.set(n.outputs[0], draw(n, s, copy, to));
      return;
    }
    std::vector<std::pair<ValueId, ValueId>> elsewhere;
    for (const ValueId v : n.inputs) {
      const auto it = streams.find(v);
      if (it == streams.end() || from.producer(v)->region == n.region) continue;
      const auto [at, fresh] = it->second.draws.emplace(n.region, -1);
      if (fresh) at->second = draw(*from.producer(v), it->second, copy, to);
      elsewhere.emplace_back(v, copy[v]);
      copy.set(v, at->second);
    }
    copy.node(id);
    for (const auto& [v, here] : elsewhere) copy.set(v, here);
  });
}

}  // namespace rw
