#include "rewind/graph/control_edges.h"

#include <algorithm>
#include <map>

namespace rw {
namespace {

class EdgeFinder {
 public:
  explicit EdgeFinder(const Graph& graph) : graph_(graph), edges_(graph.nodes().size()) {}

  std::vector<std::vector<NodeId>> find() {
    for (NodeId id = 0; id < NodeId(graph_.nodes().size()); ++id) {
      const Node& node = graph_.node(id);
      if (node.op->stateful || !node.attrs.empty()) visit(id, node, effects_of(node));
    }
    return std::move(edges_);
  }

 private:
  // Users of one resource, or of what has no resource, since the last write.
  struct Line {
    NodeId writer = -1;
    std::vector<NodeId> readers;
  };

  void visit(NodeId id, const Node& node, const Effects& effects) {
    if (!effects.any()) return;
    std::vector<const void*> keys;
    bool somewhere = false;
    for (const ValueId v : node.inputs) {
      if (graph_.value(v).dtype != DType::kResource) continue;
      const ValueId root = root_of(v);
      if (graph_.value(root).node >= 0 && graph_.producer(root)->op->name != "VarHandleOp") somewhere = true;
      keys.push_back(key_of(root));
    }
    // Making a handle, or memory without a value, is no event.
    if (keys.empty() && (node.op->name == "VarHandleOp" || node.op->name == "Empty")) return;
    if (barrier_ >= 0) wait(id, barrier_);
    if (somewhere) {
      // The resource came out of a branch or a loop: it may be any of them.
      for (auto& [key, line] : lines_) use(id, line, true);
      lines_.clear();
      barrier_ = id;
    } else {
      std::sort(keys.begin(), keys.end());
      keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
      for (const void* key : keys) use(id, lines_[key], effects.writes);
      if (keys.empty() || effects.other) use(id, lines_[nullptr], true);
    }
    std::sort(edges_[size_t(id)].begin(), edges_[size_t(id)].end());
    edges_[size_t(id)].erase(std::unique(edges_[size_t(id)].begin(), edges_[size_t(id)].end()),
                             edges_[size_t(id)].end());
  }

  void use(NodeId id, Line& line, bool writes) {
    if (line.writer >= 0 && (!writes || line.readers.empty())) wait(id, line.writer);
    if (!writes) {
      line.readers.push_back(id);
      return;
    }
    for (const NodeId reader : line.readers) wait(id, reader);
    line.readers.clear();
    line.writer = id;
  }

  void wait(NodeId id, NodeId before) {
    if (before == id) return;
    for (const ValueId v : graph_.node(id).inputs)
      if (graph_.value(v).node == before) return;  // it waits for the value already
    edges_[size_t(id)].push_back(before);
  }

  ValueId root_of(ValueId v) const {
    for (;;) {
      const Node* p = graph_.producer(v);
      if (!p || p->op->name != "Identity") return v;
      v = p->inputs[0];
    }
  }

  // Handles of one shared name are one variable.
  const void* key_of(ValueId root) {
    const Node* p = graph_.producer(root);
    if (!p || p->op->name != "VarHandleOp") return &graph_.value(root);
    const auto name = attr_as<std::string>(*p->op, p->attrs, "shared_name");
    if (name.empty()) return &graph_.value(root);
    return &*names_.emplace(attr_as<std::string>(*p->op, p->attrs, "container") + "/" + name, 0).first;
  }

  const Graph& graph_;
  std::vector<std::vector<NodeId>> edges_;
  std::map<const void*, Line> lines_;  // by resource; nullptr for effects without one
  std::map<std::string, int> names_;
  NodeId barrier_ = -1;
};

}  // namespace

std::vector<std::vector<NodeId>> control_edges(const Graph& graph) { return EdgeFinder(graph).find(); }

}  // namespace rw
