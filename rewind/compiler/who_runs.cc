#include "rewind/compiler/who_runs.h"

#include "rewind/kernel/kernel.h"
#include "rewind/runtime/eager.h"

namespace rw {
namespace {

bool plain(const GraphValue& v) { return v.shape.fully_known() && !is_host_only(v.dtype); }

// Whether an axis, a size or the like comes only while running. The shape rule checks them and the kernel
// relies on it, so the rule must run then. Of uint64 are only keys and counters, where any value is right.
bool checked_late(const Graph& g, const Node& n) {
  const auto counts = split_inputs(*n.op, n.inputs.size(), n.attrs);
  size_t next = 0;
  for (size_t a = 0; a < counts.size(); ++a) {
    for (int k = 0; k < counts[a]; ++k) {
      const GraphValue& v = g.value(n.inputs[next++]);
      const bool number = v.dtype != DType::kResource && v.dtype != DType::kUint64;
      if (n.op->inputs[a].host_memory && number && !v.known->data) return true;
    }
  }
  return false;
}

// Whether a Fused node is a kernel with a group behind it: see fuse_epilogues.
bool has_kernel(const Node& n) {
  const std::shared_ptr<const Graph> body = graph_attr(n, "f");
  return !body->nodes().empty() && body->nodes().back().op == n.op;
}

}  // namespace

Runs who_runs(const Graph& g, const Node& n) {
  if (n.op->name == "Const") return Runs::kConstant;
  if (n.op->view && g.value(n.outputs[0]).shape.fully_known() && !checked_late(g, n)) return Runs::kAlias;
  if (n.op->name == "ReadVariableOp" && g.value(n.outputs[0]).shape.fully_known()) return Runs::kRead;
  if (n.op->name == "AssignVariableOp" && plain(g.value(n.inputs[1]))) return Runs::kAssign;
  if (n.op->name == "_Tiles") return Runs::kTiles;
  if (n.op->name == "_Fused") return has_kernel(n) ? Runs::kRows : Runs::kNative;
  if (n.op->runtime || runs_in_runtime(*n.op)) return Runs::kEager;
  for (const ValueId v : n.outputs)
    if (!plain(g.value(v))) return Runs::kEager;
  for (const ValueId v : n.inputs)
    if (!g.value(v).shape.fully_known()) return Runs::kEager;
  if (checked_late(g, n)) return Runs::kEager;
  return find_kernel(*n.op, DeviceType::kCpu) ? Runs::kKernel : Runs::kEager;
}

}  // namespace rw
