// Attention as one node: softmax(steps(query key^T)) value, and another one for its gradients, which makes
// the weights again; so neither scores nor weights are stored. Operands are read where a projection put them,
// and results are written where a join or a transpose would carry them.
#include "rewind/compiler/passes/fuse_attention.h"

#include <map>

#include "rewind/compiler/passes/passes.h"
#include "rewind/compiler/rewrite.h"
#include "rewind/op/table.h"

namespace rw {
namespace {

// Below these the work around the products weighs more than what is saved.
constexpr int64_t kFewestRows = 8;
constexpr int64_t kSmallestDepth = 4;
constexpr int64_t kFewestScores = 2048;

// Results that lie together in one value, or one result in a value of its own.
struct Result {
  ValueId value = -1;            // of the old graph: what the node gives in its place
  std::vector<NodeId> nodes;     // joins and transposes that it stands for
  std::vector<IntVector> steps;  // of the parts, by axis
  std::vector<int64_t> offsets;
};

class FuseAttention {
 public:
  explicit FuseAttention(const Graph& from)
      : from_(from), uses_(from), matcher_(from, uses_), stop_(from.num_values(), 0) {}

  // Whether there is anything to do.
  bool find() {
    find_all();
    return !made_at_.empty();
  }
  Graph run() {
    return rewrite(from_, [&](NodeId id, GraphCopy& copy, Graph& to) {
      if (const auto it = made_at_.find(id); it != made_at_.end()) emit(it->second, copy, to);
      else if (replaced_.empty() || !replaced_[size_t(id)]) copy.node(id);
    });
  }

 private:
  struct Made {
    const Op* op = nullptr;
    AttentionSpec spec;
    std::vector<ValueId> inputs;
    std::vector<ValueId> results;
    std::shared_ptr<Graph> meaning;
  };
  struct Found {
    MatchedAttention m;
    std::vector<Result> forward, backward;
  };

  bool pays(const MatchedAttention& m) const {
    const Shape& weights = from_.value(from_.node(m.softmax).outputs[0]).shape;
    const int64_t depth = from_.value(m.query).shape.back();
    return weights[weights.rank() - 2] >= kFewestRows && weights.back() >= kFewestRows &&
           depth >= kSmallestDepth && from_.value(m.output).shape.back() >= kSmallestDepth &&
           weights.num_elements() >= kFewestScores;
  }

  void find_all() {
    std::vector<Found> all;
    for (size_t i = 0; i < from_.nodes().size(); ++i) {
      if (!uses_.needed[i] || from_.nodes()[i].op->name != "Softmax") continue;
      std::optional<MatchedAttention> m = matcher_.match(NodeId(i));
      if (!m || !pays(*m)) continue;
      Found f;
      f.forward = {result_of({m->output})};
      if (m->output_grad >= 0) f.backward = grad_results(*m);
      for (const auto* list : {&f.forward, &f.backward})
        for (const Result& r : *list) stop_[size_t(r.value)] = 1;
      f.m = std::move(*m);
      all.push_back(std::move(f));
    }
    for (const Found& f : all) add(f);
  }

  // The place that follows: one transpose, if only that reads the value.
  void follow_transpose(Result* r) const {
    const Node* n = matcher_.only_reader(r->value);
    if (!n || n->inputs[0] != r->value) return;
    const std::optional<IntVector> order = order_of(from_, *n);
    if (!order || order->back() != int64_t(order->size()) - 1) return;  // depth stays last
    const IntVector dense = dense_steps(from_.value(n->outputs[0]).shape);
    IntVector steps(dense.size(), 0);
    for (size_t k = 0; k < dense.size(); ++k) steps[size_t((*order)[k])] = dense[k];
    r->value = n->outputs[0];
    r->nodes.push_back(from_.value(r->value).node);
    r->steps = {steps};
  }

  Result result_of(const std::vector<ValueId>& one) const {
    Result r;
    r.value = one[0];
    r.offsets = {0};
    r.steps = {dense_steps(from_.value(one[0]).shape)};
    follow_transpose(&r);
    return r;
  }

  // All gradients in one value, when a join of just them is all that reads them.
  std::optional<Result> joined(const std::vector<ValueId>& parts) const {
    const Node* join = matcher_.only_reader(parts[0]);
    if (!join) return std::nullopt;
    const bool concat = join->op->name == "ConcatV2";
    if (!concat && join->op->name != "Pack") return std::nullopt;
    const size_t count = join->inputs.size() - (concat ? 1 : 0);
    if (count != parts.size()) return std::nullopt;
    for (const ValueId v : parts)
      if (matcher_.only_reader(v) != join) return std::nullopt;
    const std::optional<int64_t> given =
        concat ? known_integer(from_, join->inputs[count]) : attr_as<int64_t>(*join->op, join->attrs, "axis");
    const Shape& shape = from_.value(join->outputs[0]).shape;
    if (!given) return std::nullopt;
    const size_t axis = size_t(*given < 0 ? *given + shape.rank() : *given);
    if (int(axis) == shape.rank() - 1) return std::nullopt;
    Result r;
    r.value = join->outputs[0];
    r.nodes = {from_.value(r.value).node};
    r.steps = {dense_steps(shape)};
    follow_transpose(&r);
    const IntVector whole = r.steps[0];
    IntVector steps;
    for (size_t k = 0; k < whole.size(); ++k)
      if (concat || k != axis) steps.push_back(whole[k]);
    r.steps.assign(parts.size(), steps);
    r.offsets.assign(parts.size(), 0);
    int64_t at = 0;
    for (size_t k = 0; k < count; ++k) {
      for (size_t part = 0; part < parts.size(); ++part)
        if (parts[part] == join->inputs[k]) r.offsets[part] = at * whole[axis];
      at += concat ? from_.value(join->inputs[k]).shape[int(axis)] : 1;
    }
    return r;
  }

  std::vector<Result> grad_results(const MatchedAttention& m) const {
    std::vector<ValueId> parts;
    for (const ValueId v : {m.query_grad, m.key_grad, m.value_grad})
      if (v >= 0) parts.push_back(v);
    if (parts.size() > 1)
      if (const std::optional<Result> all = joined(parts)) return {*all};
    std::vector<Result> list;
    for (const ValueId v : parts) list.push_back(result_of({v}));
    return list;
  }

  // Steps along (batch, heads, positions, depth) of a value with 2 to 4 axes; 0 where it is spread.
  static void set_steps(const Shape& shape, const IntVector& steps, bool turned, int64_t to[4]) {
    for (int k = 0; k < 4; ++k) {
      const int axis = shape.rank() - 4 + k;
      to[k] = axis >= 0 && (k >= 2 || shape[axis] != 1) ? steps[size_t(axis)] : 0;
    }
    if (turned) std::swap(to[2], to[3]);
  }

  int64_t input_number(Made* made, ValueId v) const {
    for (size_t i = 0; i < made->inputs.size(); ++i)
      if (made->inputs[i] == v) return int64_t(i);
    made->inputs.push_back(v);
    return int64_t(made->inputs.size()) - 1;
  }

  AttentionView input_view(Made* made, ValueId v, bool turned, bool any_steps) const {
    StridedPlace place = place_of(from_, v, stop_);
    // The kernel reads these along their rows.
    if (!any_steps && place.steps.back() != 1) place = {v, 0, dense_steps(from_.value(v).shape)};
    AttentionView view{.operand = input_number(made, place.base), .offset = place.offset};
    set_steps(from_.value(v).shape, place.steps, turned, view.step);
    return view;
  }

  AttentionView result_view(const Result& r, size_t output, size_t part, ValueId v) const {
    AttentionView view{.operand = int64_t(output), .offset = r.offsets[part]};
    set_steps(from_.value(v).shape, r.steps[part], false, view.step);
    return view;
  }

  Made begin(const MatchedAttention& m, const char* op) const {
    Made made;
    made.op = &find_op(op);
    AttentionSpec& s = made.spec;
    const Shape& weights = from_.value(from_.node(m.softmax).outputs[0]).shape;
    const int rank = weights.rank();
    s.batch = rank > 3 ? weights[0] : 1;
    s.heads = rank > 2 ? weights[rank - 3] : 1;
    s.queries = weights[rank - 2];
    s.keys = weights[rank - 1];
    s.depth = from_.value(m.query).shape.back();
    s.value_depth = from_.value(m.output).shape.back();
    s.query = input_view(&made, m.query, false, false);
    s.key = input_view(&made, m.key, m.key_turned, true);
    s.value = input_view(&made, m.value, m.value_turned, true);
    for (size_t i = m.steps.size(); i-- > 0;) {
      AttentionStep step = m.steps[i].step;
      if (m.steps[i].operand >= 0) step.operand = input_number(&made, m.steps[i].operand);
      s.steps.push_back(step);
    }
    return made;
  }

  void add(const Found& f) {
    const MatchedAttention& m = f.m;
    Made forward = begin(m, "_Attention");
    forward.spec.output = result_view(f.forward[0], 0, 0, m.output);
    forward.results = {f.forward[0].value};
    if (!give_meaning(&forward)) return;
    Made backward;
    if (m.output_grad >= 0) {
      backward = begin(m, "_AttentionGrad");
      AttentionSpec& s = backward.spec;
      s.output = input_view(&backward, m.output_grad, false, false);
      size_t next = 0;
      const bool together = f.backward.size() == 1;
      const auto result = [&](ValueId v, AttentionView* view) {
        if (v < 0) return;
        *view = together ? result_view(f.backward[0], 0, next, v) : result_view(f.backward[next], next, 0, v);
        ++next;
      };
      result(m.query_grad, &s.query_grad);
      result(m.key_grad, &s.key_grad);
      result(m.value_grad, &s.value_grad);
      for (const Result& r : f.backward) backward.results.push_back(r.value);
      if (!give_meaning(&backward)) return;
      made_at_.emplace(m.first_grad, std::move(backward));
    }
    made_at_.emplace(m.product, std::move(forward));
    replaced_.resize(from_.nodes().size(), 0);
    for (const NodeId n : m.nodes) replaced_[size_t(n)] = 1;
    for (const auto* list : {&f.forward, &f.backward})
      for (const Result& r : *list)
        for (const NodeId n : r.nodes) replaced_[size_t(n)] = 1;
  }

  // The nodes from the inputs to the results as a function. False when they need something else.
  bool give_meaning(Made* made) const {
    std::vector<uint8_t> needed(from_.nodes().size(), 0);
    std::vector<uint8_t> given(from_.num_values(), 0);
    for (const ValueId v : made->inputs) given[size_t(v)] = 1;
    std::vector<ValueId> open = made->results;
    while (!open.empty()) {
      const ValueId v = open.back();
      open.pop_back();
      if (given[size_t(v)]) continue;
      const NodeId n = from_.value(v).node;
      if (n < 0 || effects_of(from_.node(n)).any()) return false;
      if (needed[size_t(n)]) continue;
      needed[size_t(n)] = 1;
      const Node& node = from_.node(n);
      open.insert(open.end(), node.inputs.begin(), node.inputs.end());
    }
    made->meaning = std::make_shared<Graph>();
    made->meaning->name = made->op->tag;
    GraphCopy copy(from_, *made->meaning, GraphCopy::kFew);
    for (const ValueId v : made->inputs) copy.argument(v);
    for (size_t n = 0; n < needed.size(); ++n)
      if (needed[n]) copy.node(NodeId(n));
    for (const ValueId v : made->results) made->meaning->outputs.push_back(copy[v]);
    return true;
  }

  void emit(const Made& made, GraphCopy& copy, Graph& to) const {
    std::vector<ValueId> inputs;
    std::vector<DType> dtypes;
    std::vector<Shape> shapes;
    for (const ValueId v : made.inputs) inputs.push_back(copy[v]);
    for (const ValueId v : made.results) {
      dtypes.push_back(from_.value(v).dtype);
      shapes.push_back(from_.value(v).shape);
    }
    const NodeId n =
        to.add_node(*made.op, made.spec.to_attrs(BodyRef(made.meaning), dtypes), inputs, dtypes, shapes);
    for (size_t k = 0; k < made.results.size(); ++k) copy.set(made.results[k], to.node(n).outputs[k]);
  }

  const Graph& from_;
  const Uses uses_;
  const AttentionMatcher matcher_;
  std::vector<uint8_t> stop_;  // by value: results, which hide how they are made
  std::map<NodeId, Made> made_at_;
  std::vector<uint8_t> replaced_;  // by node
};

}  // namespace

Graph fuse_attention(Graph graph) {
  FuseAttention fusing(graph);
  return fusing.find() ? fusing.run() : std::move(graph);
}

}  // namespace rw
