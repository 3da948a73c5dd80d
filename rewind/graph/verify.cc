#include <atomic>
#include <unordered_set>

#include "rewind/base/error.h"
#include "rewind/graph/graph.h"
#include "rewind/graph/verify_passes.h"

namespace rw {
namespace {

[[noreturn]] void fail(const Graph& g, NodeId id, const std::string& rule) {
  fail_internal(__FILE__, __LINE__, ("graph " + g.name + ", node " + g.name_of(id) + ": " + rule).c_str());
}

using Seen = std::unordered_set<const FunctionBody*>;  // functions that were verified

void verify(const Graph& g, Seen& seen);

void verify_node(const Graph& g, NodeId id, Seen& seen) {
  const Node& n = g.node(id);
  DTypeVector types;
  for (const ValueId v : n.inputs) {
    if (v < 0 || size_t(v) >= g.num_values()) fail(g, id, "its inputs exist");
    if (g.value(v).node >= id) fail(g, id, "its inputs are made before it");
    types.push_back(g.value(v).dtype);
  }
  DTypeVector outputs;
  check_call(*n.op, types.data(), types.size(), n.attrs, &outputs);
  if (outputs.size() != n.outputs.size()) fail(g, id, "it has the outputs of its row");
  for (size_t i = 0; i < outputs.size(); ++i) {
    const GraphValue& v = g.value(n.outputs[i]);
    if (v.node != id || v.index != int32_t(i)) fail(g, id, "its outputs point back to it");
    if (v.dtype != outputs[i]) fail(g, id, "its outputs have the types of its row");
  }
  for_each_body(n.attrs, [&](const BodyRef& body) {
    if (seen.insert(body.get()).second) verify(graph_of(*body), seen);
  });
}

void verify(const Graph& g, Seen& seen) {
  for (size_t i = 0; i < g.nodes().size(); ++i) verify_node(g, NodeId(i), seen);
  for (const ValueId v : g.outputs)
    if (v < 0 || size_t(v) >= g.num_values())
      fail_internal(__FILE__, __LINE__, ("graph " + g.name + ": its outputs exist").c_str());
}

#ifdef NDEBUG
constexpr bool kByDefault = false;
#else
constexpr bool kByDefault = true;
#endif
constinit std::atomic<bool> g_verifies{kByDefault};
constinit std::atomic<int64_t> g_verified{0};

}  // namespace

bool verifies_passes() { return g_verifies.load(std::memory_order_relaxed); }
void set_verify_passes(bool on) { g_verifies.store(on, std::memory_order_relaxed); }
bool verifies_passes_by_default() { return kByDefault; }
int64_t num_verified_graphs() { return g_verified.load(std::memory_order_relaxed); }

void verify(const Graph& g) {
  g_verified.fetch_add(1, std::memory_order_relaxed);
  Seen seen;
  verify(g, seen);
}

}  // namespace rw
