#include "rewind/function/control_node.h"

#include "rewind/function/staging.h"

namespace rw {
namespace {

// Who listens to the ops of a trace that is open: the thread's own list for the innermost, and what each
// trace inside has hidden for those around it.
Recorder* recorders_of(const Trace& trace) {
  Recorder* list = thread_state().recorders;
  for (const Trace* t = thread_state().trace; t && t != &trace; t = t->outer()) list = t->hidden_recorders();
  return list;
}

}  // namespace

std::optional<ControlNode> ControlNode::find(const GradContext& g) {
  const Tensor& output = g.output(0);
  if (!is_symbol(output)) return {};
  const auto& s = static_cast<const SymbolImpl&>(*output.impl());
  ControlNode n;
  n.trace_ = s.trace.get();
  n.graph_ = &n.trace_->graph();
  n.first_ = s.value;
  if (n.graph_->value(s.value).node < 0) {
    if (!n.trace_->mirror) return {};
    const auto it = n.trace_->mirror->in_body.find(s.value);
    if (it == n.trace_->mirror->in_body.end()) return {};
    n.graph_ = n.trace_->mirror->body.get();
    n.first_ = it->second;
    n.mirrored_ = true;
  }
  KeptValues& table = n.table();
  if (table.inputs.empty())
    for (int i = 0; i < g.num_inputs(); ++i) table.inputs.push_back(g.input(i));
  return n;
}

Tensor ControlNode::kept(Key key) const {
  const auto& known = table().by_branch;
  const auto it = known.find(key);
  return it == known.end() ? Tensor() : it->second;
}

void ControlNode::extend(NodeExtension e, const std::vector<Key>& keys) const {
  e.op = &control_row(op(), e.attrs);
  std::vector<ValueId> outputs;
  if (mirrored_) outputs = extend_node(*graph_, graph_->value(first_).node, e);
  else outputs = trace_->extend(first_, e);
  std::vector<Tensor> further;
  for (const ValueId v : outputs) {
    if (mirrored_) {
      further.push_back(trace_->add_late_argument(graph_->value(v).dtype, graph_->value(v).shape));
      trace_->mirror->in_body.emplace(trace_->graph().arguments.back(), v);
    } else {
      further.push_back(trace_->symbol(v));
    }
  }
  KeptValues& table = this->table();
  for (size_t i = 0; i < keys.size(); ++i) table.by_branch[keys[i]] = further[i];
  if (mirrored_) return;
  for (const ValueId v : e.inputs) table.inputs.push_back(trace_->symbol(v));
  tell(further);
}

void ControlNode::tell(const std::vector<Tensor>& further) const {
  const Node& n = node();
  std::vector<const Tensor*> inputs;
  for (const Tensor& t : table().inputs) inputs.push_back(&t);
  Tensors outputs;
  for (const ValueId v : n.outputs) outputs.push_back(trace_->symbol(v));
  for (size_t i = 0; i < further.size(); ++i) outputs[outputs.size() - further.size() + i] = further[i];
  for (Recorder* r = recorders_of(*trace_); r; r = r->outer)
    if (!r->paused) r->record(*n.op, inputs, n.attrs, outputs);
}

}  // namespace rw
