#include <string_view>

#include "rewind/graph/graph.h"

namespace rw {
namespace {

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

Effects own_effects(const Op& op) {
  if (!op.stateful) return {};
  const std::string_view name = op.name;
  for (const std::string_view reader : {"ReadVariableOp", "ResourceGather", "ResourceGatherNd",
                                        "VariableShape", "VarIsInitializedOp", "VarHandleOp", "Empty"})
    if (name == reader) return {.reads = true};
  // Draws from a stream advance it, but nobody misses a draw that is not used.
  if (starts_with(name, "Random") || name == "Multinomial" || name == "TruncatedNormal" ||
      name == "ParameterizedTruncatedNormal" || name == "_ReserveRandom" || name == "StatelessRandomGetAlg")
    return {.reads = true};
  if (starts_with(name, "Resource") || starts_with(name, "Assign") || starts_with(name, "Rng"))
    return {.reads = true, .writes = true};
  return {.reads = true, .writes = true, .other = true};
}

void add(Effects& sum, const Effects& e) {
  sum.reads |= e.reads;
  sum.writes |= e.writes;
  sum.other |= e.other;
}

}  // namespace

Effects effects_of(const Op& op, const Attrs& attrs) {
  bool has_body = false;
  Effects sum;
  for_each_body(attrs, [&](const BodyRef& body) {
    has_body = true;
    for (const Node& n : graph_of(*body).nodes())
      if (n.op->stateful) add(sum, effects_of(n));
  });
  return has_body ? sum : own_effects(op);
}

}  // namespace rw
