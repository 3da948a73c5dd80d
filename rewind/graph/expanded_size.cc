#include "rewind/graph/expanded_size.h"

#include <algorithm>

namespace rw {
namespace {

bool chooses(const Op& op) {
  const std::string_view name = op.name;
  return name == "If" || name == "StatelessIf" || name == "Case" || name == "StatelessCase";
}

}  // namespace

int64_t ExpandedSizes::of(const Graph& graph) {
  if (const auto it = known_.find(&graph); it != known_.end()) return it->second;
  int64_t sum = 0;
  for (const Node& n : graph.nodes()) sum = std::min(kMostCounted, sum + of(n));
  return known_[&graph] = sum;
}

int64_t ExpandedSizes::of(const Node& n) {
  int64_t sum = 0, longest = 0;
  for_each_body(n.attrs, [&](const BodyRef& body) {
    const int64_t size = of(graph_of(*body));
    sum = std::min(kMostCounted, sum + size);
    longest = std::max(longest, size);
  });
  return std::max<int64_t>(1, branches_ == Branches::kLongest && chooses(*n.op) ? longest : sum);
}

std::string expanded_text(int64_t nodes) {
  return nodes < ExpandedSizes::kMostCounted ? std::to_string(nodes)
                                             : "more than " + std::to_string(ExpandedSizes::kMostCounted);
}

}  // namespace rw
