// Grouping. Nodes are taken in order. A node joins the group of a producer when both run over the same
// elements; groups that meet in a node become one. A group runs where its last node stood, so it is closed as
// soon as a node outside reads from it. This is linear, can make no cycle, and cuts repeated structure at the
// same places, so that equal groups give equal kernels.
#include <algorithm>
#include <map>

#include "rewind/compiler/build_loops.h"
#include "rewind/compiler/fusible.h"
#include "rewind/compiler/passes/passes.h"
#include "rewind/compiler/rewrite.h"
#include "rewind/graph/equal.h"
#include "rewind/op/table.h"

namespace rw {
namespace {

constexpr int kMostNodes = 96;
// What may be computed again instead of stored and loaded, in additions: of values that the caches hold, of
// larger ones, and when it takes several large values.
constexpr int kHeaviestCached = 8, kHeaviestCopy = 28, kHeaviestOfMany = 1;
constexpr int64_t kCachedBytes = int64_t{2} << 20;
constexpr ValueId kNoLeaf = -1, kManyLeaves = -2;
constexpr int64_t kRowRatio = 16;    // a value so much smaller than another is stored in its place
constexpr size_t kMostBuffers = 28;  // inputs of a group; outputs come on top

struct Group {
  Shape domain;        // the elements it runs over
  int32_t region = 0;  // of all its nodes
  int kept_axes = -1;  // where rows end, once a row reduction is in it
  std::vector<NodeId> nodes;
  std::vector<ValueId> inputs;
  bool open = true;
};

class Grouping {
 public:
  explicit Grouping(const Graph& g)
      : g_(g),
        uses_(g),
        group_of_(g.nodes().size(), -1),
        refused_(g.num_values(), 0),
        refused_splits_(g.nodes().size(), 0) {}

  void run() {
    for (size_t i = 0; i < g_.nodes().size(); ++i) {
      const Node& n = g_.nodes()[i];
      if (!uses_.needed[i]) continue;
      const Fusible f = fusible(g_, n);
      const bool outside = f.kind == FuseKind::kNot || f.kind == FuseKind::kPart;
      const int joined = outside ? -1 : join(NodeId(i), n, f);
      for (const ValueId v : n.inputs) {
        const int other = group_at(v);
        if (other >= 0 && other != joined) groups_[size_t(other)].open = false;
      }
    }
  }

  // The group that makes a value, -1 for none.
  int group_at(ValueId v) {
    const NodeId maker = g_.value(v).node;
    return maker < 0 || group_of_[size_t(maker)] < 0 ? -1 : find(group_of_[size_t(maker)]);
  }
  int group_of_node(NodeId id) { return group_of_[size_t(id)] < 0 ? -1 : find(group_of_[size_t(id)]); }
  const Group& group(int i) const { return groups_[size_t(i)]; }

  // Splits whose parts are operands of groups and nothing else: the groups read them where they lie. What is
  // split then lives as long as its parts would have.
  void find_splits() {
    dissolved_.assign(g_.nodes().size(), 0);
    for (size_t i = 0; i < g_.nodes().size(); ++i)
      dissolved_[i] = uses_.needed[i] && !refused_splits_[i] && is_known_split(g_.nodes()[i]);
    for (const ValueId v : g_.outputs) keep_split_of(v);
    for (size_t i = 0; i < g_.nodes().size(); ++i) {
      const Node& n = g_.nodes()[i];
      if (!uses_.needed[i]) continue;
      for (size_t k = 0; k < n.inputs.size(); ++k)
        if (is_part(n.inputs[k]) && !reads_elements(NodeId(i), k)) keep_split_of(n.inputs[k]);
    }
    any_dissolved_ = std::find(dissolved_.begin(), dissolved_.end(), 1) != dissolved_.end();
  }
  // Whether nothing stands where the node was.
  bool gone(NodeId id) const { return dissolved_[size_t(id)] != 0 || !uses_.needed[size_t(id)]; }
  bool is_part(ValueId v) const { return g_.value(v).node >= 0 && dissolved_[size_t(g_.value(v).node)] != 0; }

  // Which values of groups are read outside them.
  void find_outside_readers() {
    outside_.assign(g_.num_values(), 0);
    for (const ValueId v : g_.outputs) outside_[size_t(v)] = 1;
    for (size_t i = 0; i < g_.nodes().size(); ++i) {
      if (!uses_.needed[i]) continue;
      const int home = group_of_node(NodeId(i));
      for (const ValueId v : g_.nodes()[i].inputs)
        if (home < 0 || group_at(v) != home) outside_[size_t(v)] = 1;
    }
  }
  bool read_outside(ValueId v) const { return outside_[size_t(v)] != 0; }

  // Values that only other groups read are not stored if they are cheap: each of those groups makes them
  // again from values that are stored anyway, or from the statistics of rows, which take little room.
  void find_copies() {
    remade_.assign(g_.num_values(), 0);
    copies_.clear();
    const std::vector<uint8_t> fit = values_that_groups_could_remake();
    std::vector<int> weight(g_.num_values(), 0);          // of making a value again; 0: that cannot be
    std::vector<ValueId> leaf(g_.num_values(), kNoLeaf);  // the one large value that it is made from
    std::vector<ValueId> statistics;
    for (size_t i = 0; i < g_.nodes().size(); ++i) {
      const Node& n = g_.nodes()[i];
      if (n.outputs.size() != 1 || group_of_node(NodeId(i)) < 0) continue;
      const size_t v = size_t(n.outputs[0]);
      if (refused_[v] || fusible(g_, n).kind != FuseKind::kScalar || weight_of(*n.op) == 0) continue;
      int sum = weight_of(*n.op);
      ValueId large = kNoLeaf;
      statistics.clear();
      bool ready = true;
      for (const ValueId u : n.inputs) {
        ValueId from = u;
        if (weight[size_t(u)] > 0 && (remade_[size_t(u)] || !stored(u))) {
          sum += weight[size_t(u)];
          from = leaf[size_t(u)];
        } else if (is_statistic(u, ValueId(v)) && !stored(u)) {
          statistics.push_back(u);
        } else {
          ready &= stored(u);
        }
        if (from == kNoLeaf || (from >= 0 && is_small_beside(from, ValueId(v)))) continue;
        large = large == kNoLeaf || large == from ? from : kManyLeaves;
      }
      if (!ready || sum > heaviest_copy(ValueId(v), large)) continue;
      weight[v] = sum;
      leaf[v] = large;
      if (!fit[v]) {
        // Part of what others make again, if those may read the statistics.
        if (!statistics.empty()) weight[v] = 0;
        continue;
      }
      remade_[v] = 1;
      for (const ValueId u : statistics) outside_[size_t(u)] = 1;
    }
    for (size_t v = 0; v < remade_.size(); ++v)
      if (remade_[v]) outside_[v] = 0;
    for (size_t i = 0; i < g_.nodes().size(); ++i) {
      const int home = group_of_node(NodeId(i));
      if (home < 0 || !uses_.needed[i] || find(home) != home) continue;
      for (const ValueId v : g_.nodes()[i].inputs)
        if (remade_[size_t(v)] && group_at(v) != home) add_copy(home, v);
    }
  }
  // What this group reads in parts is split from now on, or, if there is no such thing, what it makes again
  // is stored; takes effect with the next find_splits and find_copies. False if there is neither.
  bool refuse(int id) {
    bool any = false;
    for (const NodeId n : nodes_with_copies(id))
      for (const ValueId v : g_.node(n).inputs)
        if (is_part(v)) {
          refused_splits_[size_t(g_.value(v).node)] = 1;
          any = true;
        }
    if (any) return true;
    const auto it = copies_.find(id);
    if (it == copies_.end()) return false;
    for (const NodeId n : it->second) refused_[size_t(g_.node(n).outputs[0])] = 1;
    return true;
  }
  // Groups that hold more than what they are made of: they may not go into one nest of loops.
  std::vector<int> groups_to_try() {
    std::vector<int> list;
    for (size_t i = 0; i < groups_.size(); ++i) {
      if (find(int(i)) != int(i) || groups_[i].nodes.size() < 2) continue;
      if (copies_.contains(int(i)) || reads_parts(int(i))) list.push_back(int(i));
    }
    return list;
  }
  std::vector<NodeId> nodes_with_copies(int id) const {
    std::vector<NodeId> all = groups_[size_t(id)].nodes;
    if (const auto it = copies_.find(id); it != copies_.end()) {
      all.insert(all.end(), it->second.begin(), it->second.end());
      std::sort(all.begin(), all.end());
    }
    return all;
  }

 private:
  bool is_known_split(const Node& n) const {
    if (n.outputs.empty() || !split_part(g_, n.outputs[0])) return false;
    return std::all_of(n.outputs.begin(), n.outputs.end(), [&](ValueId v) {
      return !is_host_only(g_.value(v).dtype) && g_.value(v).shape.num_elements() > 0;
    });
  }
  // Whether the input is an operand of a loop.
  bool reads_elements(NodeId id, size_t input) {
    const int home = group_of_node(id);
    if (home < 0 || groups_[size_t(home)].nodes.size() < 2) return false;
    const FuseKind kind = fusible(g_, g_.node(id)).kind;
    return kind == FuseKind::kScalar || (kind == FuseKind::kRowReduce && input == 0);
  }
  bool reads_parts(int id) const {
    if (!any_dissolved_) return false;
    for (const NodeId n : nodes_with_copies(id))
      for (const ValueId v : g_.node(n).inputs)
        if (is_part(v)) return true;
    return false;
  }
  void keep_split_of(ValueId v) {
    if (g_.value(v).node >= 0) dissolved_[size_t(g_.value(v).node)] = 0;
  }

  int find(int i) {
    while (parent_[size_t(i)] != i) i = parent_[size_t(i)] = parent_[size_t(parent_[size_t(i)])];
    return i;
  }

  // Whether the value is in memory when a group behind it runs.
  bool stored(ValueId v) {
    if (g_.value(v).node < 0 || outside_[size_t(v)]) return true;
    const int home = group_at(v);
    return home < 0 || groups_[size_t(home)].nodes.size() < 2;
  }

  // Whether a value of the same group is so small that storing it costs nothing.
  bool is_statistic(ValueId u, ValueId v) { return group_at(u) == group_at(v) && is_small_beside(u, v); }
  int heaviest_copy(ValueId v, ValueId leaf) const {
    if (leaf == kManyLeaves) return kHeaviestOfMany;
    return bytes_of(v) < kCachedBytes ? kHeaviestCached : kHeaviestCopy;
  }
  bool is_small_beside(ValueId u, ValueId v) const {
    return g_.value(u).shape.num_elements() * kRowRatio <= g_.value(v).shape.num_elements();
  }

  // Values of groups that are read outside, but only by groups over the same elements.
  std::vector<uint8_t> values_that_groups_could_remake() {
    std::vector<uint8_t> fit(g_.num_values(), 0);
    for (size_t v = 0; v < fit.size(); ++v) {
      const int home = group_at(ValueId(v));
      fit[v] = outside_[v] && home >= 0 && groups_[size_t(home)].nodes.size() >= 2;
    }
    for (const ValueId v : g_.outputs) fit[size_t(v)] = 0;
    for (size_t i = 0; i < g_.nodes().size(); ++i) {
      if (!uses_.needed[i]) continue;
      const int home = group_of_node(NodeId(i));
      for (const ValueId v : g_.nodes()[i].inputs) {
        if (!fit[size_t(v)] || group_at(v) == home) continue;
        if (home < 0 || groups_[size_t(home)].nodes.size() < 2 ||
            !(groups_[size_t(home)].domain == g_.value(v).shape))
          fit[size_t(v)] = 0;
      }
    }
    return fit;
  }

  void add_copy(int home, ValueId v) {
    std::vector<NodeId>& list = copies_[home];
    const NodeId maker = g_.value(v).node;
    if (std::find(list.begin(), list.end(), maker) != list.end()) return;
    list.push_back(maker);
    for (const ValueId u : g_.node(maker).inputs) {
      if (!stored(u) && group_at(u) != home) add_copy(home, u);
    }
  }

  static bool is_row_shape(const Shape& domain, int kept, const Shape& s) {
    if (kept < 0 || s.rank() < kept || s.rank() > domain.rank()) return false;
    for (int a = 0; a < kept; ++a)
      if (s[a] != domain[a]) return false;
    for (int a = kept; a < s.rank(); ++a)
      if (s[a] != 1) return false;
    // Without the ones it would broadcast against other axes.
    return s.rank() == kept || s.rank() == domain.rank();
  }

  // Whether the node can run inside the group, given its inputs from there.
  bool fits(const Group& g, const Node& n, const Fusible& f) const {
    const Shape& out = g_.value(n.outputs[0]).shape;
    if (f.kind == FuseKind::kRowReduce) {
      return g_.value(n.inputs[0]).shape == g.domain && (g.kept_axes < 0 || g.kept_axes == f.kept_axes);
    }
    if (out == g.domain) return true;
    return is_row_shape(g.domain, g.kept_axes, out);
  }

  // Row values without their ones broadcast along other axes: such a node must not read them inside.
  bool reads_well(const Group& g, int id, const Node& n) {
    const Shape& out = g_.value(n.outputs[0]).shape;
    for (const ValueId v : n.inputs) {
      if (group_at(v) != id) continue;
      const Shape& s = g_.value(v).shape;
      if (s == g.domain || s == out) continue;
      if (s.rank() == g.domain.rank() && is_row_shape(g.domain, g.kept_axes, s)) continue;
      return false;
    }
    return true;
  }

  void add_inputs(Group& g, const Node& n) {
    for (const ValueId v : n.inputs) {
      if (g_.value(v).known->data && g_.value(v).shape.num_elements() == 1) continue;
      if (std::find(g.inputs.begin(), g.inputs.end(), v) == g.inputs.end()) g.inputs.push_back(v);
    }
  }

  int join(NodeId id, const Node& n, const Fusible& f) {
    int home = -1;
    if (f.kind != FuseKind::kConstant) {
      for (const ValueId v : n.inputs) {
        const int other = group_at(v);
        if (other < 0 || other == home) continue;
        const Group& g = groups_[size_t(other)];
        if (!g.open || g.region != n.region || !fits(g, n, f) || !reads_well(g, other, n)) continue;
        if (int(g.nodes.size()) >= kMostNodes || g.inputs.size() >= kMostBuffers) continue;
        if (waits_for_product(g, n)) continue;
        home = home < 0 ? other : merged(home, other);
      }
    }
    if (home < 0) {
      home = int(groups_.size());
      parent_.push_back(home);
      Group& g = groups_.emplace_back();
      g.region = n.region;
      g.domain = f.kind == FuseKind::kRowReduce ? g_.value(n.inputs[0]).shape : g_.value(n.outputs[0]).shape;
    }
    Group& g = groups_[size_t(home)];
    if (f.kind == FuseKind::kRowReduce) g.kept_axes = f.kept_axes;
    g.nodes.push_back(id);
    add_inputs(g, n);
    group_of_[size_t(id)] = home;
    return home;
  }

  // Whether the group would wait for a product that the node reads and hold more until then than its result
  // takes: sums of many weight gradients. The node then runs on the product's rows instead.
  bool waits_for_product(const Group& g, const Node& n) const {
    const bool late = std::any_of(n.inputs.begin(), n.inputs.end(), [&](ValueId v) {
      const NodeId maker = g_.value(v).node;
      return maker > g.nodes.back() && uses_.count[size_t(v)] == 1 && g_.node(maker).op->name == "MatMul";
    });
    if (!late) return false;
    int64_t held = 0, made = 0;
    for (const ValueId v : g.inputs) {
      int reads = 0;
      for (const NodeId id : g.nodes)
        reads += int(std::count(g_.node(id).inputs.begin(), g_.node(id).inputs.end(), v));
      if (g_.value(v).node >= 0 && uses_.count[size_t(v)] == reads) held += bytes_of(v);
    }
    for (const ValueId v : n.inputs)
      if (const NodeId maker = g_.value(v).node; std::binary_search(g.nodes.begin(), g.nodes.end(), maker))
        made += bytes_of(v);
    return held > made;
  }
  int64_t bytes_of(ValueId v) const {
    const GraphValue& value = g_.value(v);
    return value.shape.num_elements() * int64_t(size_of(value.dtype));
  }

  // `a`, with all of `b` in it where that is possible.
  int merged(int a, int b) {
    Group& x = groups_[size_t(a)];
    Group& y = groups_[size_t(b)];
    if (!(x.domain == y.domain) || (x.kept_axes >= 0 && y.kept_axes >= 0 && x.kept_axes != y.kept_axes))
      return a;
    if (int(x.nodes.size() + y.nodes.size()) >= kMostNodes ||
        x.inputs.size() + y.inputs.size() >= kMostBuffers)
      return a;
    x.nodes.insert(x.nodes.end(), y.nodes.begin(), y.nodes.end());
    std::sort(x.nodes.begin(), x.nodes.end());
    for (const ValueId v : y.inputs)
      if (std::find(x.inputs.begin(), x.inputs.end(), v) == x.inputs.end()) x.inputs.push_back(v);
    x.kept_axes = std::max(x.kept_axes, y.kept_axes);
    parent_[size_t(b)] = a;
    return a;
  }

  const Graph& g_;
  const Uses uses_;
  std::vector<int> group_of_;  // by node, before find()
  std::vector<int> parent_;
  std::vector<Group> groups_;
  std::vector<uint8_t> outside_;               // by value
  std::vector<uint8_t> remade_;                // by value: not stored, each reader makes it again
  std::vector<uint8_t> refused_;               // by value: always stored
  std::map<int, std::vector<NodeId>> copies_;  // by group: nodes of others that it runs too
  std::vector<uint8_t> dissolved_;             // by node: a split that groups do without
  std::vector<uint8_t> refused_splits_;        // by node: always run
  bool any_dissolved_ = false;
};

// The part as a Slice of `whole`, which stands for what is split.
ValueId add_part(Graph& g, ValueId whole, const SplitPart& place, const GraphValue& part) {
  static const Op& slice = find_op("Slice");
  const auto integers = [&](std::span<const int64_t> list) {
    const std::shared_ptr<int64_t[]> data(new int64_t[list.size()]);
    std::copy(list.begin(), list.end(), data.get());
    return g.add_constant({DType::kInt64, {int64_t(list.size())}, data});
  };
  const std::vector<int64_t> sizes(part.shape.begin(), part.shape.end());
  std::vector<int64_t> start(sizes.size(), 0);
  start[size_t(place.axis)] = place.start;
  const ValueId inputs[] = {whole, integers(start), integers(sizes)};
  const DType dtypes[] = {part.dtype};
  const Shape shapes[] = {part.shape};
  const Attrs attrs{{"T", part.dtype}, {"Index", DType::kInt64}};
  return g.node(g.add_node(slice, attrs, inputs, dtypes, shapes)).outputs[0];
}

// A group as a function, and what it stands for in the graph.
struct Body {
  std::shared_ptr<const Graph> graph;
  std::vector<ValueId> inputs, results;  // values of the graph it is cut from
};

Body body_of(const Graph& from, Grouping& grouping, int id) {
  Body body;
  auto graph = std::make_shared<Graph>();
  graph->name = "fused";
  GraphCopy inner(from, *graph, GraphCopy::kFew);
  auto bring_in = [&](ValueId v) {
    if (inner.has(v)) return;
    const Node* maker = from.producer(v);
    if (maker && maker->op->name == "Const" && from.value(v).shape.num_elements() == 1) {
      inner.node(from.value(v).node);
      return;
    }
    inner.argument(v);
    body.inputs.push_back(v);
  };
  auto bring_in_part = [&](ValueId v) {
    if (inner.has(v)) return;
    const SplitPart part = *split_part(from, v);
    bring_in(part.whole);
    inner.set(v, add_part(*graph, inner[part.whole], part, from.value(v)));
  };
  for (const NodeId n : grouping.nodes_with_copies(id)) {
    const Node& node = from.node(n);
    // Sizes of a spread are in its shape: they are no operand.
    const int sizes = node.op->name == "BroadcastTo" ? 1 : node.op->name == "Fill" ? 0 : -1;
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      const ValueId v = node.inputs[k];
      const Node* maker = from.producer(v);
      if (int(k) == sizes && maker && maker->op->name == "Const" && !inner.has(v))
        inner.node(from.value(v).node);
      else if (grouping.is_part(v)) bring_in_part(v);
      else bring_in(v);
    }
    inner.node(n);
  }
  for (const NodeId n : grouping.group(id).nodes) {
    const ValueId v = from.node(n).outputs[0];
    if (!grouping.read_outside(v)) continue;
    body.results.push_back(v);
    graph->outputs.push_back(inner[v]);
  }
  for (size_t i = 0; i < graph->nodes().size(); ++i) graph->node(NodeId(i)).region = 0;  // the group has it
  body.graph = std::move(graph);
  return body;
}

// The functions of groups, equal ones once.
class Bodies {
 public:
  // False when it does not go into one nest of loops.
  bool add(std::shared_ptr<const Graph>* body, Attrs* attrs) {
    *body = shelf_.share(std::move(*body));
    const auto [it, fresh] = attrs_.try_emplace(body->get());
    if (fresh && build_loops(**body)) it->second = {{"f", BodyRef(*body)}, {"Tout", (*body)->output_types()}};
    *attrs = it->second;
    return !attrs->empty();
  }

 private:
  GraphShelf shelf_;
  std::unordered_map<const Graph*, Attrs> attrs_;
};

// The group as a node whose function it is; false when it does not go into one nest of loops.
bool emit_group(const Graph& from, Grouping& grouping, int id, Bodies& bodies, GraphCopy& copy, Graph& to) {
  static const Op& fused = find_op("_Fused");
  Body body = body_of(from, grouping, id);
  Attrs attrs;
  if (!bodies.add(&body.graph, &attrs)) return false;
  std::vector<ValueId> inputs;
  std::vector<DType> dtypes;
  std::vector<Shape> shapes;
  for (const ValueId v : body.inputs) inputs.push_back(copy[v]);
  for (const ValueId v : body.results) {
    dtypes.push_back(from.value(v).dtype);
    shapes.push_back(from.value(v).shape);
  }
  const NodeId made = to.add_node(fused, attrs, inputs, dtypes, shapes);
  to.node(made).site = from.node(grouping.group(id).nodes.back()).site;
  for (size_t k = 0; k < body.results.size(); ++k) copy.set(body.results[k], to.node(made).outputs[k]);
  return true;
}

}  // namespace

Graph fuse(const Graph& from) {
  Grouping grouping(from);
  grouping.run();
  // What some group cannot hold is stored after all, which may change what others make again.
  for (bool settled = false; !settled;) {
    settled = true;
    grouping.find_outside_readers();
    grouping.find_splits();
    grouping.find_copies();
    for (const int g : grouping.groups_to_try()) {
      if (build_loops(*body_of(from, grouping, g).graph)) continue;
      settled = !grouping.refuse(g) && settled;
    }
  }
  Bodies bodies;
  return rewrite(from, [&](NodeId id, GraphCopy& copy, Graph& to) {
    if (grouping.gone(id)) return;
    const int g = grouping.group_of_node(id);
    if (g < 0 || grouping.group(g).nodes.size() < 2) {
      copy.node(id);
      return;
    }
    if (grouping.group(g).nodes.back() != id) return;
    if (emit_group(from, grouping, g, bodies, copy, to)) return;
    for (const NodeId n : grouping.group(g).nodes) copy.node(n);
  });
}

}  // namespace rw
