// The passes: graph in, graph out. Each leaves the meaning as it was (the reference evaluator's), bit for
// bit. Those that take a graph by value give the very same one back where there is nothing to do.
#pragma once

#include <functional>
#include <set>
#include <span>

#include "rewind/graph/graph.h"

namespace rw {

// Arguments take these shapes, and all others are inferred anew.
Graph specialise(const Graph& graph, std::span<const Shape> arguments);
// Bodies of calls in place of the calls, also inside of branches and loops.
Graph inline_calls(const Graph& graph);
bool has_calls(const Graph& graph);
// The same with other bodies; a call for which there is none stays.
using CalledBody = std::function<std::shared_ptr<const Graph>(const Node& call)>;
Graph inline_calls(const Graph& graph, const CalledBody& body_of);
// Whether the graph would become so large that calls must stay calls; with those of small functions inlined
// then. Throws ResourceExhaustedError when even a run would not end, and for what is to be planned.
bool too_large_inlined(const Graph& graph);
Graph inline_small_calls(const Graph& graph, bool planned);
// What several calls of this graph call, each in a region, so that nothing of one call joins another's: their
// bodies can go through the passes once, and into the graph then.
std::set<const FunctionBody*> repeated_bodies(const Graph& graph);
// Whether there are calls of others.
bool has_calls_but(const Graph& graph, const std::set<const FunctionBody*>& some);
// Only what an output or an effect needs.
Graph prune(const Graph& graph);
Graph prune_away(Graph graph);
// Random draws that regions read are made again there; with `all`, every draw is one that can be. `marks`:
// places between nodes, which are moved along.
Graph redraw(Graph graph, std::span<size_t> marks = {}, bool all = false);
// Loops with their derivatives keep some of their states, and compute the rest again; all of them, or those
// whose body the user wants recomputed.
Graph checkpoint_loops(Graph graph, bool all);
// Values that are known become constants. The small ones; the large ones whose making takes longer than their
// reading, as far as bytes and work are bounded; both. Under a budget the large ones stay what they are.
Graph fold_small_constants(Graph graph);
Graph fold_large_constants(Graph graph);
Graph fold_constants(Graph graph);
// Of nodes that compute the same, one.
Graph share_subexpressions(Graph graph);
// Identities, reshapes of reshapes, broadcasts that elementwise ops do anyway, products with one.
Graph simplify(Graph graph);
// Batched products that are one product, transposes as flags.
Graph shape_matmuls(Graph graph);
// Softmax of masked and scaled products, times values, as one node; and its gradients as another.
Graph fuse_attention(Graph graph);
// Each update of a variable as soon as its inputs are there.
Graph update_early(Graph graph);
// Elementwise ops, broadcasts and reductions together in Fused nodes.
Graph fuse(const Graph& graph);
// Kernels that report their rows together with the group that takes these further.
Graph fuse_epilogues(const Graph& graph);

// Many groups over the same elements in a row run tile by tile: see tiles.h.
Graph tile_groups(Graph graph);

}  // namespace rw
