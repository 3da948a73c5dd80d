#include <algorithm>

#include "rewind/compiler/passes/passes.h"
#include "rewind/compiler/rewrite.h"

namespace rw {

Graph prune(const Graph& from) {
  const Uses uses(from);
  return rewrite(from, [&](NodeId id, GraphCopy& copy, Graph&) {
    if (uses.needed[size_t(id)]) copy.node(id);
  });
}

Graph prune_away(Graph from) {
  const Uses uses(from);
  if (std::find(uses.needed.begin(), uses.needed.end(), 0) == uses.needed.end()) return from;
  return rewrite_away(from, [&](NodeId id, GraphCopy& copy, Graph&) {
    if (uses.needed[size_t(id)]) copy.node(id);
  });
}

}  // namespace rw
