#include "rewind/compiler/tiles.h"

#include "rewind/compiler/plan_memory.h"
#include "rewind/device/parallel.h"

namespace rw {

TilePlan plan_tile(const Graph& body, int64_t block) {
  std::vector<int32_t> last(body.num_values(), -1);
  for (size_t i = 0; i < body.nodes().size(); ++i)
    for (const ValueId v : body.nodes()[i].inputs) last[size_t(v)] = int32_t(i);
  std::vector<uint8_t> given(body.num_values(), 0);
  for (const ValueId v : body.outputs) given[size_t(v)] = 1;
  std::vector<Lifetime> lives;
  std::vector<ValueId> who;
  for (size_t v = 0; v < body.num_values(); ++v) {
    const GraphValue& value = body.value(ValueId(v));
    if (value.node < 0 || given[v]) continue;
    lives.push_back({block * int64_t(size_of(value.dtype)), value.node, std::max(value.node, last[v])});
    who.push_back(ValueId(v));
  }
  const MemoryPlan plan = plan_memory(lives);
  TilePlan tile;
  tile.bytes = plan.bytes;
  tile.offsets.assign(body.num_values(), -1);
  for (size_t i = 0; i < who.size(); ++i) tile.offsets[size_t(who[i])] = plan.offsets[i];
  return tile;
}

int64_t tile_bytes(const Node& n) {
  const auto block = attr_as<int64_t>(*n.op, n.attrs, "block");
  return num_threads() * arena_rounded(plan_tile(*graph_attr(n, "f"), block).bytes);
}

}  // namespace rw
