#include <cstring>
#include <unordered_map>

#include "rewind/compiler/passes/passes.h"
#include "rewind/compiler/rewrite.h"

namespace rw {
namespace {

constexpr int64_t kMostBytesCompared = 4096;

bool equal(const HostTensor& a, const HostTensor& b) {
  if (a.dtype != b.dtype || !(a.shape == b.shape)) return false;
  if (a.data == b.data) return true;
  if (is_host_only(a.dtype)) return false;
  const size_t bytes = size_t(a.shape.num_elements()) * size_of(a.dtype);
  return int64_t(bytes) <= kMostBytesCompared && std::memcmp(a.data.get(), b.data.get(), bytes) == 0;
}

bool equal(const AttrValue& a, const AttrValue& b) {
  if (a.variant().index() != b.variant().index()) return false;
  return std::visit(
      [&]<class V>(const V& v) {
        const V& w = std::get<V>(b.variant());
        if constexpr (std::is_same_v<V, HostTensor>) return equal(v, w);
        else return v == w;
      },
      a.variant());
}

bool equal(const Attrs& a, const Attrs& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [name, value] : a) {
    const AttrValue* other = b.find(name);
    if (!other || !equal(value, *other)) return false;
  }
  return true;
}

uint64_t mix(uint64_t h, uint64_t w) {
  h = (h ^ w) * 0xff51afd7ed558ccd;
  return h ^ h >> 32;
}

uint64_t hash_of(const Node& n, std::span<const ValueId> inputs) {
  uint64_t h = mix(reinterpret_cast<uint64_t>(n.op), uint64_t(n.region));
  for (const ValueId v : inputs) h = mix(h, uint64_t(v));
  for (const auto& [name, value] : n.attrs) {
    h = mix(h, name.size());
    if (const auto* i = value.get_if<int64_t>()) h = mix(h, uint64_t(*i));
    if (const auto* t = value.get_if<HostTensor>(); t && !is_host_only(t->dtype)) {
      const size_t bytes = std::min<size_t>(64, size_t(t->shape.num_elements()) * size_of(t->dtype));
      const auto* data = static_cast<const unsigned char*>(t->data.get());
      for (size_t i = 0; i < bytes; ++i) h = mix(h, data[i]);
    }
  }
  return h;
}

}  // namespace

Graph share_subexpressions(const Graph& from) {
  std::unordered_multimap<uint64_t, NodeId> seen;  // nodes of the new graph
  std::unordered_map<ValueId, ValueId> reads;      // of variables, by handle, since the last write to each
  return rewrite(from, [&](NodeId id, GraphCopy& copy, Graph& to) {
    const Node& n = from.node(id);
    if (n.op->stateful) {
      if (n.op->name == "ReadVariableOp") {
        const auto [it, fresh] = reads.emplace(copy[n.inputs[0]], -1);
        if (fresh) it->second = to.node(copy.node(id)).outputs[0];
        else copy.set(n.outputs[0], it->second);
        return;
      }
      const Effects effects = effects_of(n);
      if (effects.other) reads.clear();
      if (effects.writes)
        for (const ValueId v : n.inputs) reads.erase(copy[v]);
      copy.node(id);
      return;
    }
    SmallVector<ValueId, 8> inputs;
    for (const ValueId v : n.inputs) inputs.push_back(copy[v]);
    const uint64_t h = hash_of(n, {inputs.data(), inputs.size()});
    const auto [begin, end] = seen.equal_range(h);
    for (auto it = begin; it != end; ++it) {
      const Node& other = to.node(it->second);
      if (other.op != n.op || other.region != n.region || other.inputs.size() != inputs.size() ||
          !std::equal(inputs.begin(), inputs.end(), other.inputs.begin()) || !equal(n.attrs, other.attrs))
        continue;
      for (size_t k = 0; k < n.outputs.size(); ++k) copy.set(n.outputs[k], other.outputs[k]);
      return;
    }
    seen.emplace(h, copy.node(id));
  });
}

}  // namespace rw
