#include "rewind/compiler/memory/probe.h"

#include <cstring>
#include <mutex>
#include <unordered_map>

#include "rewind/base/error.h"
#include "rewind/compiler/plan_memory.h"
#include "rewind/compiler/tiles.h"
#include "rewind/compiler/who_runs.h"
#include "rewind/device/buffer.h"
#include "rewind/graph/copy.h"
#include "rewind/kernel/kernel.h"

namespace rw {
namespace {

class ProbeHost final : public KernelHost {
 public:
  View allocate_output(int, Shape) override { fail_internal(__FILE__, __LINE__, "sizes are known here"); }
  void* scratch(size_t bytes) override {
    if (bytes == 0) return nullptr;
    total += arena_rounded(int64_t(bytes));
    Buffer room(cpu_device(), bytes);
    return blocks_.emplace_back(std::move(room)).data();
  }
  View variable(int) override { fail_internal(__FILE__, __LINE__, "a kernel with state is not probed"); }
  int64_t total = 0;

 private:
  std::vector<Buffer> blocks_;
};

// Kernels take blocks of many sizes, one after the other; the allocator would keep them all until the plan is
// made.
constexpr int64_t kMostCached = 32 << 20;
void keep_cache_small() {
  Allocator& allocator = cpu_device().allocator();
  const MemoryStats stats = allocator.stats();
  if (stats.reserved - stats.in_use > kMostCached) allocator.trim();
}

// The node as text: the same for nodes that take the same scratch.
std::string key_of(const Graph& g, const Node& n) {
  Graph one;
  GraphCopy copy(g, one, GraphCopy::kFew);
  for (const ValueId v : n.inputs)
    if (!copy.has(v)) copy.argument(v);
  copy.node(g.value(n.outputs[0]).node);
  one.name.clear();
  std::string text = one.to_string();
  // Known inputs (axes, sizes) matter too.
  for (const ValueId v : n.inputs) {
    const HostTensor& known = g.value(v).known;
    if (!known.data || is_host_only(known.dtype)) continue;
    text.append(static_cast<const char*>(known.data.get()),
                size_t(known.shape.num_elements()) * size_of(known.dtype));
  }
  return text;
}

int64_t run_once(const Graph& g, const Node& n) {
  const KernelEntry* kernel = find_kernel(*n.op, DeviceType::kCpu);
  std::vector<Buffer> memory;
  std::vector<View> views;
  auto add = [&](ValueId id) {
    const GraphValue& v = g.value(id);
    const int64_t count = v.shape.num_elements();
    const size_t bytes = size_t(count) * size_of(v.dtype);
    Buffer& block = memory.emplace_back(cpu_device(), std::max<size_t>(bytes, 1));
    if (v.known->data && !is_host_only(v.dtype)) std::memcpy(block.data(), v.known->data.get(), bytes);
    else std::memset(block.data(), 0, bytes);
    views.push_back({block.data(), &v.shape, v.dtype, count});
  };
  for (const ValueId v : n.inputs) add(v);
  for (const ValueId v : n.outputs) add(v);
  ProbeHost host;
  KernelContext ctx(*n.op, n.attrs, {views.data(), n.inputs.size()},
                    {views.data() + n.inputs.size(), n.outputs.size()}, cpu_device(), host, kernel->data);
  try {
    kernel->run(ctx);
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch)
    // Zeros may be no input for it; what it had asked for by then counts.
  }
  return host.total;
}

}  // namespace

int64_t scratch_of(const Graph& g, const Node& n) {
  const Runs runs = who_runs(g, n);
  if (runs == Runs::kTiles) return tile_bytes(n);
  if (runs == Runs::kRows) {
    const std::shared_ptr<const Graph> body = graph_attr(n, "f");
    int64_t most = 0;
    for (const Node& inner : body->nodes())
      if (inner.op != n.op) most = std::max(most, scratch_of(*body, inner));
    return most;
  }
  if (runs != Runs::kKernel || n.op->stateful || n.outputs.empty()) return 0;
  for (const ValueId v : n.inputs)
    if (is_host_only(g.value(v).dtype) || !g.value(v).shape.fully_known()) return 0;
  // An elementwise kernel writes each element once, from elements.
  if (n.op->elementwise) return 0;
  static std::mutex mutex;
  static auto* known = new std::unordered_map<std::string, int64_t>();
  std::string key = key_of(g, n);
  {
    const std::lock_guard lock(mutex);
    if (const auto found = known->find(key); found != known->end()) return found->second;
  }
  const int64_t bytes = run_once(g, n);
  keep_cache_small();
  const std::lock_guard lock(mutex);
  return known->emplace(std::move(key), bytes).first->second;
}

}  // namespace rw
