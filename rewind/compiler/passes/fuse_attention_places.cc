// Where values lie that are parts of others.
#include "rewind/compiler/passes/fuse_attention.h"
#include "rewind/compiler/rewrite.h"
#include "rewind/op/strided_slice.h"

namespace rw {

IntVector dense_steps(const Shape& shape) {
  IntVector steps(size_t(shape.rank()), 1);
  for (int k = shape.rank() - 2; k >= 0; --k) steps[size_t(k)] = steps[size_t(k) + 1] * shape[k + 1];
  return steps;
}

std::optional<int64_t> known_integer(const Graph& g, ValueId v) {
  const HostTensor& known = g.value(v).known;
  if (!known.data || known.shape.num_elements() != 1) return std::nullopt;
  return int64_t(known_element(known, 0));
}

namespace {

bool known_integers(const Graph& g, ValueId v, IntVector* list) {
  const HostTensor& known = g.value(v).known;
  if (!known.data) return false;
  for (int64_t i = 0; i < known.shape.num_elements(); ++i) list->push_back(int64_t(known_element(known, i)));
  return true;
}

// Steps of the same elements under another shape; false when they do not lie at equal steps there.
bool reshape_steps(const Shape& from, const IntVector& steps, const Shape& to, IntVector* result) {
  struct Axis {
    int64_t size, step;
  };
  std::vector<Axis> axes;  // neighbours that run through are one
  for (int k = 0; k < from.rank(); ++k) {
    if (from[k] == 1) continue;
    const Axis axis{from[k], steps[size_t(k)]};
    if (!axes.empty() && axes.back().step == axis.size * axis.step)
      axes.back() = {axes.back().size * axis.size, axis.step};
    else axes.push_back(axis);
  }
  result->resize(size_t(to.rank()));
  size_t next = axes.size();
  int64_t left = 1, step = 1;
  for (int k = to.rank() - 1; k >= 0; --k) {
    if (to[k] == 1) {
      (*result)[size_t(k)] = 0;
      continue;
    }
    if (left == 1) {
      if (next == 0) return false;
      left = axes[--next].size;
      step = axes[next].step;
    }
    if (left % to[k] != 0) return false;
    (*result)[size_t(k)] = step;
    step *= to[k];
    left /= to[k];
  }
  return left == 1 && next == 0;
}

bool place_of_slice(const Graph& g, const Node& n, StridedPlace* p) {
  IntVector begin, end, strides;
  if (!known_integers(g, n.inputs[1], &begin) || !known_integers(g, n.inputs[2], &end) ||
      !known_integers(g, n.inputs[3], &strides))
    return false;
  const SlicePlan plan =
      plan_slice(n.op->tag, g.value(n.inputs[0]).shape, begin, end, strides, slice_masks(n.attrs));
  IntVector steps(size_t(plan.shape.rank()), 0);
  for (size_t k = 0; k < plan.begin.size(); ++k) {
    p->offset += plan.begin[k] * p->steps[k];
    if (plan.result_axis[k] >= 0) steps[size_t(plan.result_axis[k])] = plan.step[k] * p->steps[k];
  }
  p->steps = steps;
  return true;
}

}  // namespace

std::optional<IntVector> order_of(const Graph& g, const Node& n) {
  IntVector order;
  if (n.op->name != "Transpose" || !known_integers(g, n.inputs[1], &order)) return std::nullopt;
  for (int64_t& axis : order)
    if (axis < 0) axis += int64_t(order.size());
  return order;
}

StridedPlace place_of(const Graph& g, ValueId v, const std::vector<uint8_t>& stop) {
  const Shape& shape = g.value(v).shape;
  const StridedPlace itself{v, 0, dense_steps(shape)};
  const Node* n = g.producer(v);
  if (!n || stop[size_t(v)] || n->inputs.empty() || n->op->stateful) return itself;
  const std::string& op = n->op->name;
  if (const std::optional<SplitPart> part = split_part(g, v)) {
    StridedPlace p = place_of(g, part->whole, stop);
    p.offset += part->start * p.steps[size_t(part->axis)];
    return p;
  }
  const ValueId from = n->inputs[0];
  const bool reshape = op == "Reshape" || op == "ExpandDims" || op == "Squeeze";
  const bool part = op == "Transpose" || op == "Unpack" || op == "Slice" || op == "StridedSlice";
  if ((!reshape && !part) || !g.value(from).shape.fully_known()) return itself;

  StridedPlace p = place_of(g, from, stop);
  const int rank = g.value(from).shape.rank();
  const auto axis_of = [&](int64_t axis) { return size_t(axis < 0 ? axis + rank : axis); };
  if (reshape) {
    IntVector steps;
    if (!reshape_steps(g.value(from).shape, p.steps, shape, &steps)) return itself;
    p.steps = steps;
    return p;
  }
  if (op == "Transpose") {
    const std::optional<IntVector> order = order_of(g, *n);
    if (!order) return itself;
    const IntVector before = p.steps;
    for (size_t k = 0; k < order->size(); ++k) p.steps[k] = before[size_t((*order)[k])];
    return p;
  }
  if (op == "Unpack") {
    const size_t at = axis_of(attr_as<int64_t>(*n->op, n->attrs, "axis"));
    p.offset += g.value(v).index * p.steps[at];
    IntVector steps;
    for (size_t k = 0; k < p.steps.size(); ++k)
      if (k != at) steps.push_back(p.steps[k]);
    p.steps = steps;
    return p;
  }
  if (op == "Slice") {
    IntVector begin;
    if (!known_integers(g, n->inputs[1], &begin)) return itself;
    for (size_t k = 0; k < begin.size(); ++k) p.offset += begin[k] * p.steps[k];
    return p;
  }
  return place_of_slice(g, *n, &p) ? p : itself;
}

}  // namespace rw
