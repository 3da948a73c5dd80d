#include <map>
#include <unordered_map>

#include "rewind/base/error.h"
#include "rewind/compiler/passes/passes.h"
#include "rewind/compiler/rewrite.h"
#include "rewind/graph/bodies.h"
#include "rewind/graph/expanded_size.h"

namespace rw {
namespace {

// Graphs with more nodes keep calls: each function compiles by itself, but for the small ones.
constexpr int64_t kMostInlined = int64_t(1) << 19;
constexpr int64_t kLargestInlinedThen = 1024;
// Nodes of a run with such calls: some ten seconds.
constexpr int64_t kMostRun = int64_t(1) << 24;

bool is_call(const Node& n) {
  return n.op->name == "PartitionedCall" || n.op->name == "StatefulPartitionedCall";
}

// Branches and loops' bodies without calls, each made once: they may become native code as a whole.
class InlinedBodies {
 public:
  explicit InlinedBodies(const CalledBody& body_of) : body_of_(body_of) {}
  BodyRef without_calls(const BodyRef& body);
  Graph inlined(const Graph& from, const CalledBody& body_of);

 private:
  const CalledBody& body_of_;  // in there
  std::map<BodyRef, BodyRef> made_;
};

// Pastes graphs into another, with the bodies of calls in place of the calls.
class Pasting {
 public:
  Pasting(Graph& to, const CalledBody& body_of, InlinedBodies& bodies)
      : to_(to), body_of_(body_of), bodies_(bodies) {}

  // Nodes of a call in a region lie there. Regions inside of it are that call's own.
  std::vector<ValueId> paste(const Graph& body, std::span<const ValueId> inputs, int32_t region) {
    GraphCopy copy(body, to_);
    for (size_t i = 0; i < inputs.size(); ++i) copy.set(body.arguments[i], inputs[i]);
    std::unordered_map<int32_t, int32_t> inside;
    const auto region_of = [&](const Node& n) {
      if (region == 0 || n.region == 0) return region + n.region;
      const auto [it, fresh] = inside.try_emplace(n.region, next_own_);
      if (fresh) --next_own_;
      return it->second;
    };
    for (size_t i = 0; i < body.nodes().size(); ++i) {
      const Node& n = body.nodes()[i];
      const int32_t here = region_of(n);
      const std::shared_ptr<const Graph> called = is_call(n) ? body_of_(n) : nullptr;
      if (!called) {
        const auto without_calls = [&](const BodyRef& inner) { return bodies_.without_calls(inner); };
        const NodeId made = copy.node(NodeId(i), is_call(n) ? n.attrs : with_bodies(n.attrs, without_calls));
        to_.node(made).region = here;
        continue;
      }
      std::vector<ValueId> in;
      for (const ValueId v : n.inputs) in.push_back(copy[v]);
      const std::vector<ValueId> out = paste(*called, in, here);
      for (size_t k = 0; k < out.size(); ++k) copy.set(n.outputs[k], out[k]);
    }
    std::vector<ValueId> results;
    for (const ValueId v : body.outputs) results.push_back(copy[v]);
    return results;
  }

 private:
  Graph& to_;
  const CalledBody& body_of_;
  InlinedBodies& bodies_;
  int32_t next_own_ = -1;  // tracing gives positive ones
};

BodyRef InlinedBodies::without_calls(const BodyRef& body) {
  const Graph& graph = graph_of(*body);
  if (!has_calls(graph)) return body;
  BodyRef& made = made_[body];
  if (!made) made = std::make_shared<const Graph>(inlined(graph, body_of_));
  return made;
}

Graph InlinedBodies::inlined(const Graph& from, const CalledBody& body_of) {
  Graph to;
  to.name = from.name;
  std::vector<ValueId> arguments;
  for (size_t i = 0; i < from.arguments.size(); ++i) {
    const GraphValue& v = from.value(from.arguments[i]);
    arguments.push_back(to.add_argument(v.dtype, v.shape, from.argument_names[i]));
    to.value(arguments.back()).known = v.known;
    to.value(arguments.back()).variable = v.variable;
  }
  to.outputs = Pasting(to, body_of, *this).paste(from, arguments, 0);
  return to;
}

std::shared_ptr<const Graph> called(const Node& n) { return graph_attr(n, "f"); }

}  // namespace

bool has_calls(const Graph& graph) { return any_node(graph, is_call); }

Graph inline_calls(const Graph& from, const CalledBody& body_of) {
  const CalledBody all = called;
  return InlinedBodies(all).inlined(from, body_of);
}

Graph inline_calls(const Graph& from) { return inline_calls(from, called); }

bool too_large_inlined(const Graph& graph) {
  return ExpandedSizes(ExpandedSizes::Branches::kAll).of(graph) > kMostInlined && has_calls(graph);
}

namespace {

// What every function computes, once each: calls of one function on the same values become one call, which
// makes many a tower of calls small.
class Sharing {
 public:
  Graph shared(const Graph& from) {
    Graph with_shared = rewrite(from, [&](NodeId id, GraphCopy& copy, Graph&) {
      copy.node(id, with_bodies(from.node(id).attrs, [&](const BodyRef& body) {
                  BodyRef& made = made_[body];
                  if (!made) made = std::make_shared<const Graph>(shared(graph_of(*body)));
                  return made;
                }));
    });
    return share_subexpressions(prune_away(std::move(with_shared)));
  }

 private:
  std::map<BodyRef, BodyRef> made_;
};

// Nodes of the graph itself when calls of functions up to this size are inlined.
int64_t size_with(const Graph& graph, int64_t largest, ExpandedSizes& sizes) {
  int64_t sum = 0;
  for (const Node& n : graph.nodes()) {
    const int64_t size = is_call(n) ? sizes.of(n) : 1;
    sum = std::min(ExpandedSizes::kMostCounted, sum + (size <= largest ? size : 1));
  }
  return sum;
}

}  // namespace

Graph inline_small_calls(const Graph& from, bool planned) {
  const Graph graph = Sharing().shared(from);
  ExpandedSizes sizes(ExpandedSizes::Branches::kAll);
  if (sizes.of(graph) <= kMostInlined) return inline_calls(graph);
  const int64_t runs = ExpandedSizes(ExpandedSizes::Branches::kLongest).of(graph);
  if (runs > kMostRun)
    fail_exhausted(from.name, "a run may take at most " + std::to_string(kMostRun) +
                                  " nodes, those of called functions counted once per call: got " +
                                  expanded_text(runs) +
                                  "; functions that call others several times multiply with every level");
  if (planned)
    fail_exhausted(from.name, "memory is planned for at most " + std::to_string(kMostInlined) +
                                  " nodes, those of called functions counted once per call: got " +
                                  expanded_text(sizes.of(graph)) + "; run it without a memory budget");
  int64_t largest = kLargestInlinedThen;
  while (largest > 0 && size_with(graph, largest, sizes) > kMostInlined) largest /= 2;
  const CalledBody small = [&](const Node& n) { return sizes.of(n) <= largest ? called(n) : nullptr; };
  return InlinedBodies(small).inlined(graph, small);
}

std::set<const FunctionBody*> repeated_bodies(const Graph& graph) {
  std::map<const FunctionBody*, int> calls;
  for (const Node& n : graph.nodes())
    if (is_call(n) && n.region != 0) ++calls[graph_attr(n, "f").get()];
  std::set<const FunctionBody*> repeated;
  for (const auto& [body, count] : calls)
    if (count > 1) repeated.insert(body);
  return repeated;
}

bool has_calls_but(const Graph& graph, const std::set<const FunctionBody*>& some) {
  if (some.empty()) return has_calls(graph);
  for (const Node& n : graph.nodes()) {
    if (is_call(n) && some.contains(graph_attr(n, "f").get())) continue;
    if (is_call(n)) return true;
    bool inside = false;
    for_each_body(n.attrs, [&](const BodyRef& body) { inside = inside || has_calls(graph_of(*body)); });
    if (inside) return true;
  }
  return false;
}

}  // namespace rw
