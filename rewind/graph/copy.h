// Copies nodes from one graph to another: the way passes and partitions are written.
#pragma once

#include <unordered_map>
#include <vector>

#include "rewind/base/error.h"
#include "rewind/graph/graph.h"

namespace rw {

class GraphCopy {
 public:
  // How much of the graph will be copied: a list over all its values is too much for a few nodes.
  enum Part { kAll, kFew };
  GraphCopy(const Graph& from, Graph& to, Part part = kAll)
      : from_(from), to_(to), few_(part == kFew), all_map_(few_ ? 0 : from.num_values(), -1) {}

  bool has(ValueId old) const { return find(old) >= 0; }
  ValueId operator[](ValueId old) const {
    const ValueId now = find(old);
    RW_CHECK(now >= 0);
    return now;
  }
  void set(ValueId old, ValueId now) { (few_ ? few_map_[old] : all_map_[size_t(old)]) = now; }

  // An argument that looks like the value.
  ValueId argument(ValueId old, std::string name = {}) {
    const GraphValue& v = from_.value(old);
    const ValueId id = to_.add_argument(v.dtype, v.shape, std::move(name));
    copy_facts(old, id);
    set(old, id);
    return id;
  }
  void arguments() {
    for (size_t i = 0; i < from_.arguments.size(); ++i) argument(from_.arguments[i], from_.argument_names[i]);
  }
  // Its inputs must be there. Types, shapes and known values carry over.
  NodeId node(NodeId id) { return node(id, from_.node(id).attrs); }
  NodeId node(NodeId id, const Attrs& attrs) {
    const Node& n = from_.node(id);
    SmallVector<ValueId, 8> inputs;
    for (const ValueId v : n.inputs) inputs.push_back((*this)[v]);
    SmallVector<DType, 4> dtypes;
    SmallVector<Shape, 2> shapes;
    for (const ValueId v : n.outputs) {
      dtypes.push_back(from_.value(v).dtype);
      shapes.push_back(from_.value(v).shape);
    }
    const NodeId now = to_.add_node(*n.op, attrs, {inputs.data(), inputs.size()},
                                    {dtypes.data(), dtypes.size()}, {shapes.data(), shapes.size()});
    Node& made = to_.node(now);
    made.name = n.name;
    made.site = n.site;
    made.region = n.region;
    for (size_t i = 0; i < n.outputs.size(); ++i) {
      copy_facts(n.outputs[i], made.outputs[i]);
      set(n.outputs[i], made.outputs[i]);
    }
    return now;
  }
  void outputs() {
    for (const ValueId v : from_.outputs) to_.outputs.push_back((*this)[v]);
  }

 private:
  void copy_facts(ValueId old, ValueId now) {
    to_.value(now).known = from_.value(old).known;
    to_.value(now).variable = from_.value(old).variable;
  }

  ValueId find(ValueId old) const {
    if (!few_) return all_map_[size_t(old)];
    const auto it = few_map_.find(old);
    return it == few_map_.end() ? -1 : it->second;
  }

  const Graph& from_;
  Graph& to_;
  bool few_;
  std::vector<ValueId> all_map_;
  std::unordered_map<ValueId, ValueId> few_map_;
};

}  // namespace rw
