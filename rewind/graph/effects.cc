#include <string_view>
#include <unordered_set>

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

// Each function once, however often it is called.
void add_effects(const Op& op, const Attrs& attrs, std::unordered_set<const FunctionBody*>& seen,
                 Effects& sum) {
  bool has_body = false;
  for_each_body(attrs, [&](const BodyRef& body) {
    has_body = true;
    if (!seen.insert(body.get()).second) return;
    for (const Node& n : graph_of(*body).nodes())
      if (n.op->stateful) add_effects(*n.op, n.attrs, seen, sum);
  });
  if (!has_body) add(sum, own_effects(op));
}

}  // namespace

Effects effects_of(const Op& op, const Attrs& attrs) {
  Effects sum;
  std::unordered_set<const FunctionBody*> seen;
  add_effects(op, attrs, seen, sum);
  return sum;
}

}  // namespace rw
