#include "rewind/compiler/fusible.h"

#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "rewind/compiler/loop/scalar_ops.h"
#include "rewind/compiler/rewrite.h"
#include "rewind/op/table.h"

namespace rw {
namespace {

using loop::Combine;

const std::unordered_map<std::string_view, RowReduction>& reductions() {
  static const auto* table = new std::unordered_map<std::string_view, RowReduction>{
      {"Sum", {Combine::kSum, false}}, {"Mean", {Combine::kSum, true}}, {"Prod", {Combine::kProd, false}},
      {"Max", {Combine::kMax, false}}, {"Min", {Combine::kMin, false}}, {"Any", {Combine::kAny, false}},
      {"All", {Combine::kAll, false}}};
  return *table;
}

bool divisor_is_safe(const Graph& g, const Node& n) {
  const GraphValue& divisor = g.value(n.inputs[1]);
  if (!divisor.known->data) return false;
  for (int64_t i = 0; i < divisor.known->shape.num_elements(); ++i)
    if (known_element(divisor.known, i) == 0) return false;
  return true;
}

Fusible row_reduce(const Graph& g, const Node& n) {
  const GraphValue& x = g.value(n.inputs[0]);
  const GraphValue& axes = g.value(n.inputs[1]);
  if (!axes.known->data || x.shape.rank() == 0 || x.shape.num_elements() == 0) return {};
  // Sums of integers wrap as in the eager kernel only in their own type; means of integers go another way.
  if (!is_floating(x.dtype) && x.dtype != DType::kBool) return {};
  const int rank = x.shape.rank();
  std::vector<bool> reduced(size_t(rank), false);
  for (int64_t i = 0; i < axes.known->shape.num_elements(); ++i) {
    const int a = int(known_element(axes.known, i));
    reduced[size_t(a < 0 ? a + rank : a)] = true;
  }
  int kept = 0;
  while (kept < rank && !reduced[size_t(kept)]) ++kept;
  if (kept == rank) return {};
  for (int a = kept; a < rank; ++a)
    if (!reduced[size_t(a)]) return {};
  // One row would be one thread's work; a row of one element is that element, also when it is -0.
  int64_t rows = 1;
  for (int a = 0; a < kept; ++a) rows *= x.shape[a];
  if (rows < 2 || rows == x.shape.num_elements()) return {};
  return {FuseKind::kRowReduce, kept, attr_as<bool>(*n.op, n.attrs, "keep_dims")};
}

}  // namespace

int weight_of(const Op& op) {
  static const auto* light = new std::unordered_set<std::string_view>{
      "AddV2",      "Add",         "Sub",          "Mul",      "Neg",      "Maximum",    "Minimum",
      "Relu",       "ReluGrad",    "Abs",          "Square",   "SelectV2", "Cast",       "Less",
      "LessEqual",  "Greater",     "GreaterEqual", "Equal",    "NotEqual", "LogicalAnd", "LogicalOr",
      "LogicalNot", "BroadcastTo", "ZerosLike",    "OnesLike", "Fill",     "Sign",       "SquaredDifference"};
  static const auto* heavy = new std::unordered_set<std::string_view>{
      "Tanh", "Sigmoid", "Exp",  "Log",      "Sin",         "Cos",       "Sqrt",    "Rsqrt",
      "Erf",  "Elu",     "Selu", "Softplus", "SigmoidGrad", "RsqrtGrad", "RealDiv", "TanhGrad"};
  return light->contains(op.name) ? 1 : heavy->contains(op.name) ? 6 : 0;
}

RowReduction row_reduction(const Op& op) { return reductions().at(op.name); }

// Whether the inputs broadcast to this shape.
static bool spreads_to(const Graph& g, const Node& n, const Shape& out) {
  Shape wider;
  for (const ValueId v : n.inputs)
    if (!broadcast_shapes(out, g.value(v).shape, &wider) || !(wider == out)) return false;
  return true;
}

Fusible fusible(const Graph& g, const Node& n) {
  if (n.op->stateful || n.outputs.size() != 1) return {};
  const GraphValue& out = g.value(n.outputs[0]);
  if (!out.shape.fully_known() || is_host_only(out.dtype) || out.shape.num_elements() == 0) return {};
  for (const ValueId v : n.inputs)
    if (!g.value(v).shape.fully_known() || is_host_only(g.value(v).dtype)) return {};
  const std::string_view name = n.op->name;
  if (name == "BroadcastTo") return {FuseKind::kSpread};
  if (name == "ZerosLike" || name == "OnesLike") return {FuseKind::kConstant};
  if (name == "Fill") return g.value(n.inputs[1]).known->data ? Fusible{FuseKind::kConstant} : Fusible{};
  if (name == "Cast")
    return loop::find_cast(g.value(n.inputs[0]).dtype, out.dtype) ? Fusible{FuseKind::kScalar} : Fusible{};
  if (name == "SelectV2") return {FuseKind::kScalar};
  if (name == "Slice")
    return g.value(n.inputs[0]).node < 0 && g.value(n.inputs[1]).known->data ? Fusible{FuseKind::kPart}
                                                                             : Fusible{};
  if (reductions().contains(name)) return row_reduce(g, n);
  if (!n.op->elementwise || n.inputs.empty()) return {};
  const DType in = g.value(n.inputs[0]).dtype;
  const loop::ScalarOp* op = loop::find_scalar_op(name, in);
  if (!op || size_t(op->arity) != n.inputs.size() || op->out != out.dtype) return {};
  if (loop::divides_integers(name, in) && !divisor_is_safe(g, n)) return {};
  if (name == "Pow" && !is_floating(in)) return {};  // refuses negative exponents
  // Equal of shapes that do not fit gives one false, if it is told to.
  return spreads_to(g, n, out.shape) ? Fusible{FuseKind::kScalar} : Fusible{};
}

}  // namespace rw
