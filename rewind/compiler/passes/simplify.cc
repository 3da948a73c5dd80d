#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "rewind/base/error.h"
#include "rewind/compiler/fusible.h"
#include "rewind/compiler/passes/passes.h"
#include "rewind/compiler/rewrite.h"
#include "rewind/op/table.h"

namespace rw {
namespace {

using Rule = ValueId (*)(const Node& n, std::span<const ValueId> in, const Shape& out, Graph& to);

// Each gives the value that takes the place of the node's only output, or -1.

ValueId pass_on(const Node&, std::span<const ValueId> in, const Shape&, Graph&) { return in[0]; }

ValueId reshape(const Node&, std::span<const ValueId> in, const Shape& out, Graph& to) {
  if (!out.fully_known()) return -1;
  ValueId x = in[0];
  // Through other reshapes to what they all reshape.
  for (const Node* p = to.producer(x); p && p->op->view && p->op->name != "Bitcast"; p = to.producer(x))
    x = p->inputs[0];
  if (to.value(x).shape == out) return x;
  return x == in[0] ? -1 : reshape_to(to, x, out);
}

bool is_one(const Graph& g, ValueId v) { return known_splat(g.value(v), 1); }
bool is_zero(const Graph& g, ValueId v) { return known_splat(g.value(v), 0); }

ValueId same_if(bool same, const Shape& out, ValueId x, Graph& to) {
  return same && to.value(x).shape == out ? x : -1;
}

// Whether arithmetic leaves x as it is: there is no denormal in it that would be flushed.
bool has_no_denormals(const Graph& g, ValueId x) {
  const DType dtype = g.value(x).dtype;
  if (!is_floating(dtype) || dtype == DType::kFloat16) return true;  // float16 computes as float32
  static const auto* const flush = new std::unordered_set<std::string_view>{
      "AddV2",    "Add",     "Sub",     "Mul",  "Div",     "RealDiv",     "Square",
      "Sqrt",     "Rsqrt",   "MatMul",  "Exp",  "Sigmoid", "SigmoidGrad", "TanhGrad",
      "SqrtGrad", "Maximum", "Minimum", "Relu", "Conv2D",  "BiasAdd"};
  const Node* p = g.producer(x);
  return p && flush->contains(p->op->name);
}

ValueId multiply(const Node&, std::span<const ValueId> in, const Shape& out, Graph& to) {
  for (const size_t i : {0, 1}) {
    const ValueId v = same_if(is_one(to, in[1 - i]) && has_no_denormals(to, in[i]), out, in[i], to);
    if (v >= 0) return v;
  }
  return -1;
}
ValueId divide(const Node&, std::span<const ValueId> in, const Shape& out, Graph& to) {
  return same_if(is_one(to, in[1]) && has_no_denormals(to, in[0]), out, in[0], to);
}
// x - 0 is x where x is no denormal; x + 0 is not, for -0.
ValueId subtract(const Node&, std::span<const ValueId> in, const Shape& out, Graph& to) {
  return same_if(is_zero(to, in[1]) && has_no_denormals(to, in[0]), out, in[0], to);
}
ValueId negate(const Node& n, std::span<const ValueId> in, const Shape&, Graph& to) {
  const Node* p = to.producer(in[0]);
  return p && p->op == n.op ? p->inputs[0] : -1;
}
ValueId broadcast(const Node&, std::span<const ValueId> in, const Shape& out, Graph& to) {
  return same_if(true, out, in[0], to);
}
ValueId cast(const Node& n, std::span<const ValueId> in, const Shape&, Graph& to) {
  return attr_as<DType>(*n.op, n.attrs, "DstT") == to.value(in[0]).dtype ? in[0] : -1;
}

// An addition, which can be fused. Channels lie last.
ValueId add_bias(const Node& n, std::span<const ValueId> in, const Shape& out, Graph& to) {
  static const Op& add = find_op("AddV2");
  if (!out.fully_known() || out.num_elements() == 0) return -1;
  if (n.op->name == "BiasAdd" && attr_as<std::string>(*n.op, n.attrs, "data_format") == "NCHW") return -1;
  return to.node(to.add_node(add, {}, in)).outputs[0];
}

// One number that does not depend on the input: who reads it need not wait for that.
ValueId number_like(const Node& n, std::span<const ValueId> in, const Shape& out, Graph& to) {
  if (!out.fully_known() || out.num_elements() != 1) return -1;
  const float number = n.op->name == "OnesLike" ? 1 : 0;
  const DType dtype = to.value(in[0]).dtype;
  if (dtype == DType::kFloat32) return to.add_constant({dtype, out, std::make_shared<const float>(number)});
  if (dtype == DType::kFloat64) return to.add_constant({dtype, out, std::make_shared<const double>(number)});
  return -1;
}

const std::unordered_map<const Op*, Rule>& rules() {
  static const auto* table = [] {
    auto* t = new std::unordered_map<const Op*, Rule>;
    const std::pair<const char*, Rule> list[] = {
        {"Identity", pass_on},
        {"StopGradient", pass_on},
        {"PreventGradient", pass_on},
        {"Snapshot", pass_on},
        {"PlaceholderWithDefault", pass_on},
        {"Reshape", reshape},
        {"ExpandDims", reshape},
        {"Squeeze", reshape},
        {"Mul", multiply},
        {"RealDiv", divide},
        {"Div", divide},
        {"Sub", subtract},
        {"Neg", negate},
        {"BroadcastTo", broadcast},
        {"Cast", cast},
        {"OnesLike", number_like},
        {"ZerosLike", number_like},
        {"BiasAdd", add_bias},
        {"BiasAddV1", add_bias},
    };
    for (const auto& [name, rule] : list)
      if (const Op* op = op_table().find(name)) t->emplace(op, rule);
    return t;
  }();
  return *table;
}

// Whether the op takes these inputs and gives this shape: some elementwise ops want inputs of one shape.
bool gives_shape(const Node& n, std::span<const ValueId> in, const Shape& out, const Graph& g) {
  SmallVector<View, 8> views;
  for (const ValueId v : in) {
    const GraphValue& value = g.value(v);
    views.push_back({nullptr, &value.shape, value.dtype, value.shape.num_elements()});
  }
  Shape shape;
  ShapeContext ctx(*n.op, n.attrs, views.data(), views.size(), &shape, 1);
  try {
    n.op->shape_rule(ctx);
  } catch (const InvalidArgumentError&) { return false; }
  return shape == out;
}

// An elementwise op spreads its inputs by itself: it takes what a BroadcastTo (or a reshape of one that only
// adds leading ones) was given, where the result keeps its shape.
void take_before_broadcast(const Node& n, SmallVector<ValueId, 8>& in, const Shape& out, const Graph& to) {
  static const Op* broadcast_to = &find_op("BroadcastTo");
  if (!n.op->elementwise || in.size() < 2) return;
  for (size_t i = 0; i < in.size(); ++i) {
    const Node* p = to.producer(in[i]);
    if (!p || p->op != broadcast_to) continue;
    SmallVector<ValueId, 8> before = in;
    before[i] = p->inputs[0];
    if (gives_shape(n, {before.data(), before.size()}, out, to)) in = before;
  }
}

// A reduction of rows that is only read under a shape with the reduced axes as ones keeps them itself: so it
// can run in one loop with what reads it.
ValueId keep_axes(ValueId x, const Shape& out, Graph& to) {
  const Node* p = to.producer(x);
  if (!p || !out.fully_known()) return -1;
  const Fusible f = fusible(to, *p);
  if (f.kind != FuseKind::kRowReduce || f.keep_dims) return -1;
  Shape kept = to.value(p->inputs[0]).shape;
  for (int a = f.kept_axes; a < kept.rank(); ++a) kept.set(a, 1);
  if (!(kept == out)) return -1;
  const ValueId in[] = {p->inputs[0], p->inputs[1]};
  return to.node(to.add_node(*p->op, p->attrs.with("keep_dims", true), in)).outputs[0];
}

// Passes its first inputs on; the rest is for who differentiates.
bool is_note_for_gradients(const Op& op) {
  return op.name == "_CustomGradient" || op.name == "_Recompute" || op.name == "_Given";
}

}  // namespace

Graph simplify(Graph from) {
  const std::vector<int32_t> reads = Uses(from).count;
  return rewrite_away(from, [&](NodeId id, GraphCopy& copy, Graph& to) {
    const Node& n = from.node(id);
    if (is_note_for_gradients(*n.op)) {  // nobody differentiates a graph behind this pass
      for (size_t k = 0; k < n.outputs.size(); ++k) copy.set(n.outputs[k], copy[n.inputs[k]]);
      return;
    }
    if (n.outputs.size() == 1 && !n.op->stateful) {
      SmallVector<ValueId, 8> in;
      for (const ValueId v : n.inputs) in.push_back(copy[v]);
      const Shape& out = from.value(n.outputs[0]).shape;
      if (n.op->view && reads[size_t(n.inputs[0])] == 1) {
        if (const ValueId v = keep_axes(in[0], out, to); v >= 0) {
          copy.set(n.outputs[0], v);
          return;
        }
      }
      if (const auto it = rules().find(n.op); it != rules().end()) {
        if (const ValueId v = it->second(n, {in.data(), in.size()}, out, to); v >= 0) {
          copy.set(n.outputs[0], v);
          return;
        }
      }
      if (out.fully_known()) {
        take_before_broadcast(n, in, out, to);
        const DType dtype = from.value(n.outputs[0]).dtype;
        Node& made = to.node(to.add_node(*n.op, n.attrs, {in.data(), in.size()}, {&dtype, 1}, {&out, 1}));
        made.name = n.name;
        made.site = n.site;
        to.value(made.outputs[0]).known = from.value(n.outputs[0]).known;
        copy.set(n.outputs[0], made.outputs[0]);
        return;
      }
    }
    copy.node(id);
  });
}

}  // namespace rw
