// How most passes are written: a walk over the nodes that copies each to a new graph, or puts something else
// in its place.
#pragma once

#include <optional>

#include "rewind/graph/copy.h"
#include "rewind/graph/uses.h"

namespace rw {

// A bool attribute of a node, as its call says or by default.
inline bool flag(const Node& n, const char* name) { return attr_as<bool>(*n.op, n.attrs, name); }

// visit(NodeId, GraphCopy&) copies the node with copy.node(id), or maps its outputs to other values of `to`.
// What it adds lies in the region of the node it is for.
template <class Visit, class Done>
Graph rewrite(const Graph& from, Visit visit, Done done) {
  Graph to;
  to.name = from.name;
  to.reserve(from.nodes().size(), from.num_values());
  GraphCopy copy(from, to);
  copy.arguments();
  for (size_t i = 0; i < from.nodes().size(); ++i) {
    const size_t before = to.nodes().size();
    visit(NodeId(i), copy, to);
    const int32_t region = from.nodes()[i].region;
    for (size_t k = before; region != 0 && k < to.nodes().size(); ++k) to.node(NodeId(k)).region = region;
    done(NodeId(i));
  }
  copy.outputs();
  return to;
}
template <class Visit>
Graph rewrite(const Graph& from, Visit visit) {
  return rewrite(from, visit, [](NodeId) {});
}
// The same for visits that look at no node of `from` but their own: those behind them are let go, so that two
// graphs of a deep model need not be there at once.
template <class Visit>
Graph rewrite_away(Graph& from, Visit visit) {
  return rewrite(from, visit, [&](NodeId id) { from.release_nodes_before(id); });
}

// The value under another shape of as many elements: a Reshape, or itself.
ValueId reshape_to(Graph& graph, ValueId x, const Shape& shape);

// The elements of a known value, read as double. Requires a real dtype.
double known_element(const HostTensor& tensor, int64_t i);
// A result of a Split or SplitV along a known axis, of known shapes: where it lies in what is split.
struct SplitPart {
  ValueId whole;
  int axis;
  int64_t start;  // along the axis
};
std::optional<SplitPart> split_part(const Graph& graph, ValueId v);
// Whether all elements are equal to this number.
bool known_splat(const GraphValue& value, double number);

}  // namespace rw
