#include "rewind/graph/shape_value.h"

#include <algorithm>
#include <optional>

namespace rw {
namespace {

constexpr int kMostSteps = 16;  // a chain of ops longer than this is not followed

int64_t element(const HostTensor& t, int64_t i) {
  return t.dtype == DType::kInt32 ? static_cast<const int32_t*>(t.data.get())[i]
                                  : static_cast<const int64_t*>(t.data.get())[i];
}

bool holds_sizes(DType dtype) { return dtype == DType::kInt32 || dtype == DType::kInt64; }

int64_t as_size(int64_t n) { return n < 0 ? Shape::kUnknown : n; }

// As many open sizes as the vector has elements.
Shape open_sizes(const GraphValue& v) {
  if (!v.shape.fully_known() || v.shape.rank() != 1) return Shape::unknown_rank();
  Shape out;
  for (int64_t i = 0; i < v.shape[0]; ++i) out.append(Shape::kUnknown);
  return out;
}

Shape follow(const Graph& g, ValueId id, int steps);

// One size, -1 where it is open.
int64_t follow_scalar(const Graph& g, ValueId id, int steps);

struct Range {
  int64_t begin, end, stride;
};

// The elements that a slice of a vector takes; nothing when the numbers are not known or the slice is
// unusual.
std::optional<Range> range_of(const Graph& g, const Node& n, int64_t size) {
  for (const size_t i : {1, 2, 3}) {
    const HostTensor& known = g.value(n.inputs[i]).known;
    if (!known.data || known.shape.num_elements() != 1) return {};
  }
  const auto mask = [&](const char* name) { return attr_as<int64_t>(*n.op, n.attrs, name) & 1; };
  if (mask("ellipsis_mask") || mask("new_axis_mask")) return {};
  Range r{element(g.value(n.inputs[1]).known, 0), element(g.value(n.inputs[2]).known, 0),
          element(g.value(n.inputs[3]).known, 0)};
  if (r.begin < 0) r.begin += size;
  if (mask("shrink_axis_mask")) {
    if (r.begin < 0 || r.begin >= size) return {};
    return Range{r.begin, r.begin + 1, 1};
  }
  if (r.stride <= 0) return {};
  if (r.end < 0) r.end += size;
  r.begin = mask("begin_mask") ? 0 : std::clamp<int64_t>(r.begin, 0, size);
  r.end = mask("end_mask") ? size : std::clamp<int64_t>(r.end, 0, size);
  return r;
}

int64_t follow_scalar(const Graph& g, ValueId id, int steps) {
  const GraphValue& v = g.value(id);
  if (!holds_sizes(v.dtype) || !v.shape.fully_known() || v.shape.num_elements() != 1) return Shape::kUnknown;
  if (v.known->data) return as_size(element(v.known, 0));
  const Node* n = g.producer(id);
  if (!n || steps == 0) return Shape::kUnknown;
  if (n->op->name == "StridedSlice") {
    const Shape from = follow(g, n->inputs[0], steps - 1);
    if (!from.has_rank()) return Shape::kUnknown;
    const auto r = range_of(g, *n, from.rank());
    return r && r->begin < r->end ? from[int(r->begin)] : Shape::kUnknown;
  }
  if (n->op->name == "Cast" || n->op->name == "Identity" || n->op->name == "Reshape" ||
      n->op->name == "Squeeze")
    return follow_scalar(g, n->inputs[0], steps - 1);
  return Shape::kUnknown;
}

Shape follow(const Graph& g, ValueId id, int steps) {
  const GraphValue& v = g.value(id);
  if (!holds_sizes(v.dtype) || (v.shape.has_rank() && v.shape.rank() != 1)) return Shape::unknown_rank();
  Shape out;
  if (v.known->data) {
    for (int64_t i = 0; i < v.known->shape.num_elements(); ++i) out.append(as_size(element(v.known, i)));
    return out;
  }
  const Node* n = g.producer(id);
  if (!n || steps == 0) return open_sizes(v);
  const std::string& name = n->op->name;
  if (name == "Shape") return g.value(n->inputs[0]).shape;
  if (name == "Cast" || name == "Identity") return follow(g, n->inputs[0], steps - 1);
  if (name == "Pack") {
    for (const ValueId i : n->inputs) out.append(follow_scalar(g, i, steps - 1));
    return out;
  }
  if (name == "ConcatV2") {
    for (size_t i = 0; i + 1 < n->inputs.size(); ++i) {
      const Shape part = follow(g, n->inputs[i], steps - 1);
      if (!part.has_rank()) return open_sizes(v);
      for (const int64_t d : part) out.append(d);
    }
    return out;
  }
  if (name == "StridedSlice") {
    const Shape from = follow(g, n->inputs[0], steps - 1);
    const auto r = from.has_rank() ? range_of(g, *n, from.rank()) : std::nullopt;
    if (!r) return open_sizes(v);
    for (int64_t i = r->begin; i < r->end; i += r->stride) out.append(from[int(i)]);
    return out;
  }
  return open_sizes(v);
}

}  // namespace

Shape shape_value(const Graph& graph, ValueId value) { return follow(graph, value, kMostSteps); }

void refine_by_shape_value(const Graph& g, const Op& op, std::span<const ValueId> inputs, Shape* out) {
  const bool reshape = op.name == "Reshape";
  const bool takes_shape = reshape || op.name == "BroadcastTo";
  if (!takes_shape && op.name != "Fill") return;
  const ValueId sizes = inputs[takes_shape ? 1 : 0];
  if (out->fully_known() || g.value(sizes).known->data) return;
  const Shape said = shape_value(g, sizes);
  if (!said.has_rank()) return;
  if (!out->has_rank()) *out = said;
  if (out->rank() != said.rank()) return;
  for (int k = 0; k < said.rank(); ++k)
    if ((*out)[k] < 0) out->set(k, said[k]);
  // The elements stay as many: one open size follows from the others.
  const Shape& from = g.value(inputs[0]).shape;
  if (!reshape || !from.fully_known()) return;
  int open = -1;
  int64_t rest = 1;
  for (int k = 0; k < out->rank(); ++k) {
    if ((*out)[k] >= 0) rest *= (*out)[k];
    else if (open >= 0) return;
    else open = k;
  }
  if (open >= 0 && rest > 0 && from.num_elements() % rest == 0) out->set(open, from.num_elements() / rest);
}

}  // namespace rw
