// Recognises attention and its gradients, as autodiff writes them, in a graph.
#include "rewind/compiler/passes/fuse_attention.h"
#include "rewind/compiler/rewrite.h"

namespace rw {
namespace {

bool spreads_to(const Shape& from, const Shape& to) {
  Shape both;
  return from.fully_known() && broadcast_shapes(from, to, &both) && both == to;
}

// Sizes of all axes but the last two are equal, or 1 in a.
bool batch_fits(const Shape& a, const Shape& all) {
  if (a.rank() != all.rank()) return false;
  for (int k = 0; k + 2 < a.rank(); ++k)
    if (a[k] != all[k] && a[k] != 1) return false;
  return true;
}

// Steps of a spread operand along (batch, head, query, key).
void spread_steps(const Shape& s, int64_t steps[4]) {
  const IntVector dense = dense_steps(s);
  for (int k = 0; k < 4; ++k) {
    const int axis = s.rank() - 4 + k;
    steps[k] = axis >= 0 && s[axis] != 1 ? dense[size_t(axis)] : 0;
  }
}

constexpr int kMostSteps = 8;

}  // namespace

AttentionMatcher::AttentionMatcher(const Graph& graph, const Uses& uses)
    : g_(graph), uses_(uses), readers_(graph.num_values()) {
  for (size_t i = 0; i < g_.nodes().size(); ++i)
    if (uses_.needed[i])
      for (const ValueId v : g_.nodes()[i].inputs) readers_[size_t(v)].push_back(NodeId(i));
}

const Node* AttentionMatcher::only_reader(ValueId v) const {
  return count(v) == 1 && readers(v).size() == 1 ? &g_.node(readers(v)[0]) : nullptr;
}

std::optional<AttentionMatcher::Product> AttentionMatcher::product_of(NodeId id) const {
  if (id < 0) return std::nullopt;
  const Node& n = g_.node(id);
  if (n.op->name == "MatMul")
    return Product{n.inputs[0], n.inputs[1], flag(n, "transpose_a"), flag(n, "transpose_b")};
  if (n.op->name == "BatchMatMulV2" || n.op->name == "BatchMatMul")
    return Product{n.inputs[0], n.inputs[1], flag(n, "adj_x"), flag(n, "adj_y")};
  return std::nullopt;
}

std::optional<double> AttentionMatcher::number_of(ValueId v) const {
  const GraphValue& value = g_.value(v);
  if (!value.known->data || value.dtype != DType::kFloat32 || value.shape.rank() > 4) return std::nullopt;
  if (value.known->shape.num_elements() != 1) return std::nullopt;
  return known_element(value.known, 0);
}
bool AttentionMatcher::is_number(ValueId v, double number) const {
  const std::optional<double> known = number_of(v);
  return known && *known == number;
}

// `result` was made of `chain` by its producer; the step is already at the end of the list.
bool AttentionMatcher::trace_step(ValueId chain, ValueId result, int depth, MatchedAttention* m) const {
  const size_t steps = m->steps.size();
  const size_t nodes = m->nodes.size();
  m->nodes.push_back(maker(result));
  if (shape(chain) == shape(result) && trace_scores(chain, depth + 1, m)) return true;
  m->steps.resize(steps - 1);
  m->nodes.resize(nodes);
  return false;
}

// Back from the softmax to the product, last step first.
bool AttentionMatcher::trace_scores(ValueId v, int depth, MatchedAttention* m) const {
  const NodeId id = maker(v);
  if (id < 0 || depth > kMostSteps || count(v) != 1) return false;
  const Node& n = g_.node(id);
  if (const std::optional<Product> p = product_of(id)) {
    if (p->turn_a || !batch_fits(shape(p->a), shape(v)) || !batch_fits(shape(p->b), shape(v))) return false;
    m->query = p->a;
    m->key = p->b;
    m->key_turned = !p->turn_b;
    m->nodes.push_back(id);
    return true;
  }
  const std::string& op = n.op->name;
  const auto with = [&](AttentionStep::Kind kind, ValueId chain, double number, ValueId operand) {
    MatchedStep s{{.kind = kind, .number = number}, operand};
    if (operand >= 0) {
      if (!spreads_to(shape(operand), shape(v))) return false;
      spread_steps(shape(operand), s.step.step);
    }
    m->steps.push_back(s);
    return trace_step(chain, v, depth, m);
  };
  if (op == "Mul") {
    for (const int side : {0, 1})
      if (const auto number = number_of(n.inputs[size_t(1 - side)]))
        return with(AttentionStep::kMultiply, n.inputs[size_t(side)], *number, -1);
    return false;
  }
  if (op == "RealDiv" || op == "Div") {
    const auto number = number_of(n.inputs[1]);
    return number && with(AttentionStep::kDivide, n.inputs[0], *number, -1);
  }
  if (op == "AddV2" || op == "Add")
    return with(AttentionStep::kAdd, n.inputs[0], 0, n.inputs[1]) ||
           with(AttentionStep::kAdd, n.inputs[1], 0, n.inputs[0]);
  if (op == "SelectV2") {
    if (const auto number = number_of(n.inputs[2]))
      return with(AttentionStep::kKeep, n.inputs[1], *number, n.inputs[0]);
    if (const auto number = number_of(n.inputs[1]))
      return with(AttentionStep::kDrop, n.inputs[2], *number, n.inputs[0]);
  }
  return false;
}

bool AttentionMatcher::last_axis_sum(const Node& n) const {
  if (n.op->name != "Sum" || !flag(n, "keep_dims")) return false;
  const std::optional<int64_t> axis = known_integer(g_, n.inputs[1]);
  return axis && (*axis == -1 || *axis == shape(n.inputs[0]).rank() - 1);
}

// The gradient before a step, from that behind it.
std::optional<ValueId> AttentionMatcher::undo_step(const MatchedStep& s, ValueId grad,
                                                   MatchedAttention* m) const {
  if (s.step.kind == AttentionStep::kAdd) return grad;
  const Node* n = only_reader(grad);
  if (!n || !(shape(n->outputs[0]) == shape(grad))) return std::nullopt;
  const std::string& op = n->op->name;
  bool fits = false;
  switch (s.step.kind) {
    case AttentionStep::kMultiply:
      fits = op == "Mul" && is_number(n->inputs[n->inputs[0] == grad ? 1 : 0], s.step.number);
      break;
    case AttentionStep::kDivide:
      fits =
          (op == "RealDiv" || op == "Div") && n->inputs[0] == grad && is_number(n->inputs[1], s.step.number);
      break;
    case AttentionStep::kKeep:
      fits =
          op == "SelectV2" && n->inputs[0] == s.operand && n->inputs[1] == grad && is_number(n->inputs[2], 0);
      break;
    default:
      fits =
          op == "SelectV2" && n->inputs[0] == s.operand && n->inputs[2] == grad && is_number(n->inputs[1], 0);
  }
  if (!fits) return std::nullopt;
  m->nodes.push_back(maker(n->outputs[0]));
  return n->outputs[0];
}

// Everything that reads the weights besides the second product computes gradients, all of them as expected.
bool AttentionMatcher::match_grads(ValueId weights, MatchedAttention* m) const {
  NodeId scaled = -1, weighed = -1, by_value = -1;  // dp * p, (dp - sum) * p, p^T g
  for (const NodeId r : readers(weights)) {
    if (r == m->product) continue;
    const Node& n = g_.node(r);
    NodeId* place = &by_value;
    if (n.op->name == "Mul") {
      const ValueId other = n.inputs[n.inputs[0] == weights ? 1 : 0];
      if (other == weights) return false;
      place = named(maker(other), "Sub") ? &weighed : &scaled;
    }
    if (*place >= 0) return false;
    *place = r;
  }
  if (scaled < 0 || weighed < 0 || m->key_turned || m->value_turned) return false;
  const auto other_of = [&](NodeId id) {
    const Node& n = g_.node(id);
    return n.inputs[n.inputs[0] == weights ? 1 : 0];
  };
  const ValueId dp = other_of(scaled);
  const ValueId centred = other_of(weighed);
  const std::optional<Product> back = product_of(maker(dp));
  if (!back || back->turn_a || !back->turn_b || back->b != m->value) return false;
  m->output_grad = back->a;
  if (!(shape(m->output_grad) == shape(m->output))) return false;
  const ValueId product = g_.node(scaled).outputs[0];
  const Node& sub = g_.node(maker(centred));
  const Node* sum = only_reader(product);
  if (!sum || !last_axis_sum(*sum) || sub.inputs[0] != dp || sub.inputs[1] != sum->outputs[0]) return false;
  if (count(dp) != 2 || count(sum->outputs[0]) != 1 || count(centred) != 1) return false;
  m->nodes.insert(m->nodes.end(), {maker(dp), scaled, maker(sum->outputs[0]), maker(centred), weighed});
  m->first_grad = maker(dp);
  if (by_value >= 0) {
    const std::optional<Product> p = product_of(by_value);
    if (!p || p->a != weights || !p->turn_a || p->turn_b || p->b != m->output_grad) return false;
    m->value_grad = g_.node(by_value).outputs[0];
    m->nodes.push_back(by_value);
    m->first_grad = std::min(m->first_grad, by_value);
  }
  if (count(weights) != 3 + (by_value >= 0)) return false;

  ValueId grad = g_.node(weighed).outputs[0];
  for (const MatchedStep& s : m->steps) {
    const std::optional<ValueId> before = undo_step(s, grad, m);
    if (!before) return false;
    grad = *before;
  }
  for (const NodeId r : readers(grad)) {
    const std::optional<Product> p = product_of(r);
    if (!p || p->a != grad || p->turn_b) return false;
    ValueId* place = nullptr;
    if (!p->turn_a && p->b == m->key) place = &m->query_grad;
    else if (p->turn_a && p->b == m->query) place = &m->key_grad;
    if (!place || *place >= 0) return false;
    *place = g_.node(r).outputs[0];
    m->nodes.push_back(r);
  }
  return count(grad) == int64_t(readers(grad).size());
}

std::optional<MatchedAttention> AttentionMatcher::match(NodeId softmax) const {
  const Node& n = g_.node(softmax);
  const ValueId weights = n.outputs[0];
  const GraphValue& value = g_.value(weights);
  if (value.dtype != DType::kFloat32 || !value.shape.fully_known()) return std::nullopt;
  if (value.shape.rank() < 2 || value.shape.rank() > 4) return std::nullopt;
  MatchedAttention m;
  m.softmax = softmax;
  m.nodes.push_back(softmax);
  if (!trace_scores(n.inputs[0], 0, &m)) return std::nullopt;
  for (const NodeId r : readers(weights)) {
    const std::optional<Product> p = product_of(r);
    if (!p || p->a != weights || p->turn_a || p->b == weights) continue;
    if (m.product >= 0) return std::nullopt;
    m.product = r;
    m.value = p->b;
    m.value_turned = p->turn_b;
  }
  if (m.product < 0 || !batch_fits(shape(m.value), value.shape)) return std::nullopt;
  m.output = g_.node(m.product).outputs[0];
  m.nodes.push_back(m.product);
  if (count(weights) > 1 && !match_grads(weights, &m)) return std::nullopt;
  return m;
}

}  // namespace rw
