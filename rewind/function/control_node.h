// A node of control flow that gradient rules may ask for more outputs: it lies in a trace that is still open,
// or in the body whose derivative is being traced.
#pragma once

#include <optional>

#include "rewind/autodiff/rule.h"
#include "rewind/graph/extend.h"
#include "rewind/tensor/trace.h"

namespace rw {

class ControlNode {
 public:
  // A value inside a body: which branch, and the value there.
  using Key = std::pair<int, ValueId>;

  // The node behind the outputs of a recorded call; none when the call ran eagerly or on a batch.
  static std::optional<ControlNode> find(const GradContext& g);

  Graph& graph() const { return *graph_; }
  const Op& op() const { return *node().op; }
  // The attributes that it has by now: bodies may have been extended since the call was recorded.
  const Attrs& attrs() const { return node().attrs; }
  // The output that gives a value from inside a body; undefined while none does.
  Tensor kept(Key key) const;
  // One key per further output. The row becomes the one that fits the attributes. Tapes that listen hear of
  // the larger node as of an op of its own.
  void extend(NodeExtension extension, const std::vector<Key>& keys) const;

 private:
  const Node& node() const { return graph_->node(graph_->value(first_).node); }
  KeptValues& table() const { return (mirrored_ ? trace_->mirror->kept : trace_->kept)[first_]; }
  void tell(const std::vector<Tensor>& further) const;

  Trace* trace_ = nullptr;
  Graph* graph_ = nullptr;
  ValueId first_ = -1;  // its first output, in graph_
  bool mirrored_ = false;
};

}  // namespace rw
