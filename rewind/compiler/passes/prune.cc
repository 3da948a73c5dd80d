#include "rewind/compiler/passes/passes.h"
#include "rewind/compiler/rewrite.h"

namespace rw {

Graph prune(const Graph& from) {
  const Uses uses(from);
  return rewrite(from, [&](NodeId id, GraphCopy& copy, Graph&) {
    if (uses.needed[size_t(id)]) copy.node(id);
  });
}

}  // namespace rw
