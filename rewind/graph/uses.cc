#include "rewind/graph/uses.h"

namespace rw {

Uses::Uses(const Graph& g) : needed(g.nodes().size(), 0), count(g.num_values(), 0) {
  for (const ValueId v : g.outputs) ++count[size_t(v)];
  for (size_t i = g.nodes().size(); i-- > 0;) {
    const Node& n = g.nodes()[i];
    bool wanted = n.op->stateful && effects_of(n).must_run();
    for (const ValueId v : n.outputs) wanted |= count[size_t(v)] > 0;
    if (!wanted) continue;
    needed[i] = 1;
    for (const ValueId v : n.inputs) ++count[size_t(v)];
  }
}

}  // namespace rw
