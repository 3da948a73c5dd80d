#include "rewind/graph/equal.h"

#include <algorithm>
#include <cstring>

namespace rw {
namespace {

constexpr int64_t kMostBytesCompared = 4096;

bool equal(const HostTensor& a, const HostTensor& b) {
  if (a.dtype != b.dtype || !(a.shape == b.shape)) return false;
  if (a.data == b.data) return true;
  if (!a.data || !b.data || is_host_only(a.dtype)) return false;
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

bool equal(const GraphValue& a, const GraphValue& b) {
  return a.dtype == b.dtype && a.shape == b.shape && a.node == b.node && a.index == b.index &&
         equal(static_cast<const HostTensor&>(a.known), static_cast<const HostTensor&>(b.known)) &&
         a.variable == b.variable;
}

bool equal(const Node& a, const Node& b) {
  return a.op == b.op && a.inputs == b.inputs && a.outputs == b.outputs && a.site == b.site &&
         a.region == b.region && a.name.get() == b.name.get() && rw::equal(a.attrs, b.attrs);
}

uint64_t mix(uint64_t h, uint64_t w) {
  h = (h ^ w) * 0xff51afd7ed558ccd;
  return h ^ h >> 32;
}

}  // namespace

bool equal(const Attrs& a, const Attrs& b) {
  if (a.begin() == b.begin()) return true;  // one list
  if (a.size() != b.size()) return false;
  for (const auto& [name, value] : a) {
    const AttrValue* other = b.find(name);
    if (!other || !equal(value, *other)) return false;
  }
  return true;
}

uint64_t hash_of(const Attrs& attrs) {
  uint64_t h = attrs.size();
  for (const auto& [name, value] : attrs) {
    uint64_t one = name.size();
    if (const auto* i = value.get_if<int64_t>()) one = mix(one, uint64_t(*i));
    if (const auto* t = value.get_if<HostTensor>(); t && !is_host_only(t->dtype)) {
      const size_t bytes = std::min<size_t>(64, size_t(t->shape.num_elements()) * size_of(t->dtype));
      const auto* data = static_cast<const unsigned char*>(t->data.get());
      for (size_t i = 0; i < bytes; ++i) one = mix(one, data[i]);
    }
    h = mix(h, one);
  }
  return h;
}

bool equal(const Graph& a, const Graph& b) {
  if (a.name != b.name || a.nodes().size() != b.nodes().size() || a.num_values() != b.num_values() ||
      a.arguments != b.arguments || a.argument_names != b.argument_names || a.outputs != b.outputs)
    return false;
  for (size_t i = 0; i < a.num_values(); ++i)
    if (!equal(a.value(ValueId(i)), b.value(ValueId(i)))) return false;
  for (size_t i = 0; i < a.nodes().size(); ++i)
    if (!equal(a.nodes()[i], b.nodes()[i])) return false;
  return true;
}

uint64_t hash_of(const Graph& graph) {
  uint64_t h = graph.nodes().size();
  for (const Node& n : graph.nodes()) {
    h = mix(h, reinterpret_cast<uint64_t>(n.op));
    for (const ValueId v : n.inputs) h = mix(h, uint64_t(v));
    h = mix(h, hash_of(n.attrs));
  }
  for (size_t i = 0; i < graph.num_values(); ++i) {
    const GraphValue& v = graph.value(ValueId(i));
    h = mix(h, uint64_t(v.dtype));
    for (const int64_t size : v.shape) h = mix(h, uint64_t(size));
  }
  for (const ValueId v : graph.outputs) h = mix(h, uint64_t(v));
  return h;
}

std::shared_ptr<const Graph> GraphShelf::share(std::shared_ptr<const Graph> graph) {
  const uint64_t h = hash_of(*graph);
  const auto [begin, end] = by_hash_.equal_range(h);
  for (auto it = begin; it != end; ++it)
    if (equal(*it->second, *graph)) return it->second;
  return by_hash_.emplace(h, std::move(graph))->second;
}

}  // namespace rw
