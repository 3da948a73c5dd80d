#include "rewind/compiler/memory/cost.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

namespace rw {
namespace {

// A core pair of some years ago; only ratios matter.
constexpr double kFlopsPerUs = 180e3;
constexpr double kBytesPerUs = 12e3;
constexpr double kElementOpsPerUs = 25e3;
constexpr double kStartUs = 2;

int64_t elements(const Graph& g, ValueId v) { return std::max<int64_t>(0, g.value(v).shape.num_elements()); }

int64_t bytes(const Graph& g, ValueId v) {
  const GraphValue& value = g.value(v);
  return is_host_only(value.dtype) ? 0 : elements(g, v) * int64_t(size_of(value.dtype));
}

// Products of a contraction: each output element sums over the inner axis of the first input.
double matmul_flops(const Graph& g, const Node& n, const char* transposed) {
  const Shape& a = g.value(n.inputs[0]).shape;
  const bool flipped = attr_as<bool>(*n.op, n.attrs, transposed);
  const int64_t inner = a[a.rank() - (flipped ? 2 : 1)];
  return 2.0 * double(elements(g, n.outputs[0])) * double(inner);
}

// `image` is the side with the output channels, last; each of its elements meets the filter once.
double conv_flops(const Graph& g, ValueId image, ValueId filter) {
  const Shape& f = g.value(filter).shape;
  const auto channels = double(std::max<int64_t>(1, f[f.rank() - 1]));
  return 2.0 * double(elements(g, image)) * double(elements(g, filter)) / channels;
}

double flops_of(const Graph& g, const Node& n) {
  const std::string& op = n.op->name;
  if (op == "_Fused" || op == "_Tiles") {
    const std::shared_ptr<const Graph> body = graph_attr(n, "f");
    double sum = 0;
    for (const Node& inner : body->nodes()) sum += flops_of(*body, inner);
    return sum;
  }
  if (op == "MatMul") return matmul_flops(g, n, "transpose_a");
  if (op.starts_with("BatchMatMul")) return matmul_flops(g, n, "adj_x");
  if (op == "Conv2D" || op == "Conv3D" || op.starts_with("DepthwiseConv2dNative")) {
    if (op.ends_with("Input")) return conv_flops(g, n.inputs[2], n.inputs[1]);
    if (op.ends_with("Filter")) return conv_flops(g, n.inputs[2], n.outputs[0]);
    return conv_flops(g, n.outputs[0], n.inputs[1]);
  }
  if (op.starts_with("Conv2DBackpropInput") || op.starts_with("Conv3DBackpropInput"))
    return conv_flops(g, n.inputs[2], n.inputs[1]);
  if (op.starts_with("Conv2DBackpropFilter") || op.starts_with("Conv3DBackpropFilter"))
    return conv_flops(g, n.inputs[2], n.outputs[0]);
  return 0;
}

// Ops that take elements out of something larger.
bool reads_what_it_gives(const Op& op) {
  static const auto* names = new std::unordered_set<std::string_view>{
      "Slice", "StridedSlice", "Gather", "GatherV2", "GatherNd", "ResourceGather"};
  return names->contains(op.name);
}

// Elementwise work of a fused group: each of its nodes over its own elements.
double element_ops(const Graph& g, const Node& n) {
  if (n.op->name != "_Fused" && n.op->name != "_Tiles") {
    double sum = 0;
    for (const ValueId v : n.outputs) sum += double(elements(g, v));
    return sum;
  }
  const std::shared_ptr<const Graph> body = graph_attr(n, "f");
  double sum = 0;
  for (const Node& inner : body->nodes())
    if (inner.op->name == "_Fused") sum += element_ops(*body, inner);
    else if (inner.op->name != "Const")
      for (const ValueId v : inner.outputs) sum += double(elements(*body, v));
  return sum;
}

}  // namespace

double cost_of(const Graph& g, const Node& n) {
  double moved = 0;
  for (const ValueId v : n.outputs) moved += double(bytes(g, v));
  if (reads_what_it_gives(*n.op)) moved *= 2;
  else
    for (const ValueId v : n.inputs) moved += double(bytes(g, v));
  return kStartUs +
         std::max({flops_of(g, n) / kFlopsPerUs, moved / kBytesPerUs, element_ops(g, n) / kElementOpsPerUs});
}

}  // namespace rw
