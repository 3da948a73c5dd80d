// A kernel that reports its rows as they are done (a convolution, a pool's gradient) takes the elementwise
// group that alone reads its result with it: bias, activation, an activation's gradient. The group's loops
// run on rows that are still in the cache, in the memory of one of the group's results, so that the kernel's
// own result is never stored apart. A reshape that keeps the rows may stand between them. Bits are those of
// the separate ops: the loops are the same.
#include <algorithm>

#include "rewind/compiler/build_loops.h"
#include "rewind/compiler/fusible.h"
#include "rewind/compiler/passes/passes.h"
#include "rewind/compiler/rewrite.h"
#include "rewind/kernel/kernel.h"
#include "rewind/op/table.h"

namespace rw {
namespace {

const Op& fused_op() {
  static const Op& op = find_op("_Fused");
  return op;
}

bool reports_rows(const Graph& g, const Node& n) {
  if (n.op->stateful || n.outputs.size() != 1) return false;
  const KernelEntry* entry = find_kernel(*n.op, DeviceType::kCpu);
  const GraphValue& out = g.value(n.outputs[0]);
  if (!entry || !entry->reports_rows || !entry->reports_rows(*n.op, n.attrs, out.dtype)) return false;
  if (!out.shape.fully_known() || out.shape.num_elements() == 0) return false;
  const auto counts = split_inputs(*n.op, n.inputs.size(), n.attrs);
  size_t next = 0;
  for (size_t a = 0; a < counts.size(); ++a)
    for (int k = 0; k < counts[a]; ++k) {
      const GraphValue& v = g.value(n.inputs[next++]);
      if (!v.shape.fully_known()) return false;
      if (n.op->inputs[a].host_memory && !v.known->data) return false;
    }
  return true;
}

// The group as a function: what a Fused node has, or a single node.
std::shared_ptr<const Graph> group_of(const Graph& g, NodeId id) {
  const Node& n = g.node(id);
  if (n.op == &fused_op()) return graph_attr(n, "f");
  if (fusible(g, n).kind != FuseKind::kScalar) return nullptr;
  auto body = std::make_shared<Graph>();
  body->name = "fused";
  GraphCopy inner(g, *body, GraphCopy::kFew);
  for (const ValueId v : n.inputs)
    if (!inner.has(v)) inner.argument(v);
  inner.node(id);
  body->outputs.push_back(inner[n.outputs[0]]);
  return body;
}

class Epilogues {
 public:
  explicit Epilogues(const Graph& g) : g_(g), uses_(g), kernel_of_(g.nodes().size(), -1) {
    reshape_of_.assign(g.nodes().size(), -1);
    taken_.assign(g.nodes().size(), 0);
    for (size_t i = 0; i < g.nodes().size(); ++i)
      if (uses_.needed[i]) find_kernel_for(NodeId(i));
  }

  // Whether nothing stands where the node was: it runs elsewhere, or nobody needs it.
  bool gone(NodeId id) const { return taken_[size_t(id)] != 0 || !uses_.needed[size_t(id)]; }
  // The kernel that node `id` runs behind; -1: none.
  NodeId kernel_of(NodeId id) const { return kernel_of_[size_t(id)]; }

  void emit(NodeId id, GraphCopy& copy, Graph& to) const {
    const NodeId kernel = kernel_of(id), reshape = reshape_of_[size_t(id)];
    const Node& n = g_.node(id);
    auto body = std::make_shared<Graph>();
    body->name = "fused";
    GraphCopy inner(g_, *body, GraphCopy::kFew);
    std::vector<ValueId> inputs;
    std::vector<DType> dtypes;
    std::vector<Shape> shapes;
    const auto bring_in = [&](const Node& node) {
      for (const ValueId v : node.inputs) {
        if (inner.has(v)) continue;
        inner.argument(v);
        inputs.push_back(copy[v]);
      }
    };
    bring_in(g_.node(kernel));
    inner.node(kernel);
    if (reshape >= 0) {
      for (const ValueId v : g_.node(reshape).inputs)
        if (!inner.has(v)) inner.node(g_.value(v).node);
      inner.node(reshape);
    }
    bring_in(n);
    SmallVector<ValueId, 8> group_inputs;
    for (const ValueId v : n.inputs)
      if (n.op == &fused_op() || std::find(group_inputs.begin(), group_inputs.end(), v) == group_inputs.end())
        group_inputs.push_back(v);
    for (ValueId& v : group_inputs) v = inner[v];
    for (const ValueId v : n.outputs) {
      dtypes.push_back(g_.value(v).dtype);
      shapes.push_back(g_.value(v).shape);
    }
    const NodeId group = body->add_node(fused_op(), {{"f", BodyRef(group_of(g_, id))}, {"Tout", dtypes}},
                                        {group_inputs.data(), group_inputs.size()}, dtypes, shapes);
    for (const ValueId v : body->node(group).outputs) body->outputs.push_back(v);
    const NodeId made =
        to.add_node(fused_op(), {{"f", BodyRef(std::shared_ptr<const Graph>(body))}, {"Tout", dtypes}},
                    inputs, dtypes, shapes);
    for (size_t k = 0; k < n.outputs.size(); ++k) copy.set(n.outputs[k], to.node(made).outputs[k]);
  }

 private:
  void find_kernel_for(NodeId id) {
    const Node& n = g_.node(id);
    for (size_t k = n.inputs.size(); k-- > 0;) {
      const ValueId v = n.inputs[k];
      NodeId maker = g_.value(v).node;
      if (maker < 0 || taken_[size_t(maker)]) continue;
      const int reads = int(std::count(n.inputs.begin(), n.inputs.end(), v));
      if (uses_.count[size_t(v)] != reads) continue;
      NodeId reshape = -1;
      if (keeps_rows(g_.node(maker))) {
        reshape = maker;
        const ValueId from = g_.node(maker).inputs[0];
        maker = g_.value(from).node;
        if (maker < 0 || taken_[size_t(maker)] || uses_.count[size_t(from)] != 1) continue;
      }
      if (!reports_rows(g_, g_.node(maker)) || !writes_over(n, v)) continue;
      const std::shared_ptr<const Graph> group = group_of(g_, id);
      if (!group || !build_row_loops(*group)) continue;
      taken_[size_t(maker)] = 1;
      if (reshape >= 0) taken_[size_t(reshape)] = 1;
      kernel_of_[size_t(id)] = maker;
      reshape_of_[size_t(id)] = reshape;
      return;
    }
  }

  // Whether the node only gives rows other numbers of axes.
  bool keeps_rows(const Node& n) const {
    if (n.op->name != "Reshape" || g_.value(n.inputs[0]).node < 0) return false;
    const Shape& from = g_.value(n.inputs[0]).shape;
    const Shape& to = g_.value(n.outputs[0]).shape;
    if (!from.fully_known() || !to.fully_known() || from.rank() == 0 || to.rank() == 0) return false;
    const Node* sizes = g_.producer(n.inputs[1]);
    return from.back() == to.back() && sizes && sizes->op->name == "Const";
  }

  // Whether a result of the group can lie where the kernel's does.
  bool writes_over(const Node& n, ValueId v) const {
    return std::any_of(n.outputs.begin(), n.outputs.end(), [&](ValueId o) {
      return g_.value(o).dtype == g_.value(v).dtype && g_.value(o).shape == g_.value(v).shape;
    });
  }

  const Graph& g_;
  const Uses uses_;
  std::vector<NodeId> kernel_of_;   // by node
  std::vector<NodeId> reshape_of_;  // by node: what stands between it and its kernel; -1: nothing
  std::vector<uint8_t>
      taken_;  // by node: a kernel, or the reshape behind it, that runs where its reader stood
};

}  // namespace

Graph fuse_epilogues(const Graph& from) {
  const Epilogues epilogues(from);
  return rewrite(from, [&](NodeId id, GraphCopy& copy, Graph& to) {
    if (epilogues.gone(id)) return;
    if (epilogues.kernel_of(id) >= 0) epilogues.emit(id, copy, to);
    else copy.node(id);
  });
}

}  // namespace rw
