#include <map>

#include "rewind/compiler/memory/frontier.h"
#include "rewind/compiler/passes/passes.h"
#include "rewind/compiler/rewrite.h"
#include "rewind/compiler/who_runs.h"
#include "rewind/graph/copy.h"

namespace rw {
namespace {

// A fused group with some of its outputs, and the arguments those need.
struct Trimmed {
  std::shared_ptr<const Graph> body;
  std::vector<size_t> arguments;
};

Trimmed trim(const Graph& body, const std::vector<size_t>& outputs) {
  Graph fewer = body;
  fewer.outputs.clear();
  for (const size_t k : outputs) fewer.outputs.push_back(body.outputs[k]);
  fewer = prune(fewer);
  Trimmed t;
  std::vector<bool> read(fewer.num_values(), false);
  for (const Node& n : fewer.nodes())
    for (const ValueId v : n.inputs) read[size_t(v)] = true;
  for (const ValueId v : fewer.outputs) read[size_t(v)] = true;
  auto made = std::make_shared<Graph>();
  made->name = body.name;
  GraphCopy copy(fewer, *made);
  for (size_t i = 0; i < fewer.arguments.size(); ++i) {
    if (!read[size_t(fewer.arguments[i])]) continue;
    t.arguments.push_back(i);
    copy.argument(fewer.arguments[i], fewer.argument_names[i]);
  }
  for (size_t i = 0; i < fewer.nodes().size(); ++i) copy.node(NodeId(i));
  copy.outputs();
  t.body = std::move(made);
  return t;
}

class Applying {
 public:
  Applying(const Graph& from, const PlanProblem& problem, const Schedule& schedule,
           std::vector<NodeId>* again)
      : from_(from), problem_(problem), schedule_(schedule), again_(again), copy_(from, to_) {}

  Graph run() {
    to_.name = from_.name;
    copy_.arguments();
    for (size_t i = 0; i < from_.nodes().size(); ++i)
      if (who_runs(from_, from_.nodes()[i]) == Runs::kConstant) copy_.node(NodeId(i));
    for (const int r : schedule_.order()) {
      const PlanRun& run = schedule_.run(r);
      if (problem_.steps[size_t(run.step)].node < 0) finish(run);
      else if (run.again && problem_.steps[size_t(run.step)].trims) add_trimmed(run);
      else add(run);
    }
    return std::move(to_);
  }

 private:
  const Node& node_of(const PlanRun& run) const { return from_.node(problem_.steps[size_t(run.step)].node); }

  // The version of a block that a run reads.
  int version_for(const PlanRun& run, int block) const {
    const std::vector<int>& reads = problem_.steps[size_t(run.step)].reads;
    for (size_t i = 0; i < reads.size(); ++i)
      if (reads[i] == block) return run.reads[i];
    fail_internal(__FILE__, __LINE__, "a planned run does not read the block");
  }

  // A value of the old graph as it is in some version of its memory (-1: it is no block).
  ValueId resolve(ValueId v, int version) {
    const auto key = std::make_pair(v, version);
    if (const auto found = values_.find(key); found != values_.end()) return found->second;
    const Node* maker = from_.producer(v);
    if (version < 0 && copy_.has(v)) return copy_[v];
    RW_CHECK(maker && who_runs(from_, *maker) == Runs::kAlias);
    SmallVector<ValueId, 4> inputs;
    for (size_t i = 0; i < maker->inputs.size(); ++i)
      inputs.push_back(resolve(maker->inputs[i], i == 0 ? version : -1));
    const GraphValue& old = from_.value(v);
    const NodeId id =
        to_.add_node(*maker->op, maker->attrs, {inputs.data(), inputs.size()},
                     std::span<const DType>(&old.dtype, 1), std::span<const Shape>(&old.shape, 1));
    to_.node(id).site = maker->site;
    return values_[key] = to_.node(id).outputs[0];
  }
  ValueId input_of(const PlanRun& run, ValueId v) {
    const int block = problem_.block_of[size_t(v)];
    return resolve(v, block < 0 ? -1 : version_for(run, block));
  }

  void note_outputs(const PlanRun& run, const Node& made, const std::vector<size_t>& which) {
    const Node& old = node_of(run);
    for (size_t k = 0; k < which.size(); ++k) {
      const size_t o = which[k];
      GraphValue& now = to_.value(made.outputs[k]);
      now.known = from_.value(old.outputs[o]).known;
      now.variable = from_.value(old.outputs[o]).variable;
      if (o < run.writes.size() && run.writes[o] >= 0)
        values_[{old.outputs[o], run.writes[o]}] = made.outputs[k];
      else if (!run.again) copy_.set(old.outputs[o], made.outputs[k]);
    }
  }

  NodeId add_node(const PlanRun& run, const Attrs& attrs, const std::vector<size_t>& inputs,
                  const std::vector<size_t>& outputs) {
    const Node& n = node_of(run);
    SmallVector<ValueId, 8> ins;
    for (const size_t i : inputs) ins.push_back(input_of(run, n.inputs[i]));
    SmallVector<DType, 4> dtypes;
    SmallVector<Shape, 2> shapes;
    for (const size_t o : outputs) {
      dtypes.push_back(from_.value(n.outputs[o]).dtype);
      shapes.push_back(from_.value(n.outputs[o]).shape);
    }
    const NodeId id = to_.add_node(*n.op, attrs, {ins.data(), ins.size()}, {dtypes.data(), dtypes.size()},
                                   {shapes.data(), shapes.size()});
    to_.node(id).site = n.site;
    if (run.again) again_->push_back(id);
    else to_.node(id).name = n.name;
    note_outputs(run, to_.node(id), outputs);
    return id;
  }

  static std::vector<size_t> up_to(size_t n) {
    std::vector<size_t> all(n);
    for (size_t i = 0; i < n; ++i) all[i] = i;
    return all;
  }

  void add(const PlanRun& run) {
    const Node& n = node_of(run);
    add_node(run, n.attrs, up_to(n.inputs.size()), up_to(n.outputs.size()));
  }

  void add_trimmed(const PlanRun& run) {
    const Node& n = node_of(run);
    std::vector<size_t> outputs;
    for (size_t k = 0; k < run.writes.size(); ++k)
      if (run.writes[k] >= 0) outputs.push_back(k);
    const std::shared_ptr<const Graph> body = graph_attr(n, "f");
    if (outputs.size() == n.outputs.size()) return add(run);
    Trimmed& t = trimmed_[{problem_.steps[size_t(run.step)].node, outputs}];
    if (!t.body) t = trim(*body, outputs);
    std::vector<DType> dtypes;
    for (const size_t k : outputs) dtypes.push_back(from_.value(n.outputs[k]).dtype);
    add_node(run, {{"f", BodyRef(t.body)}, {"Tout", dtypes}}, t.arguments, outputs);
  }

  void finish(const PlanRun& run) {
    for (const ValueId v : from_.outputs) to_.outputs.push_back(input_of(run, v));
  }

  const Graph& from_;
  const PlanProblem& problem_;
  const Schedule& schedule_;
  std::vector<NodeId>* again_;
  Graph to_;
  GraphCopy copy_;
  std::map<std::pair<ValueId, int>, ValueId> values_;  // (value, version)
  std::map<std::pair<NodeId, std::vector<size_t>>, Trimmed> trimmed_;
};

}  // namespace

Graph apply_plan(const Graph& graph, const PlanProblem& problem, const Schedule& schedule,
                 std::vector<NodeId>* again) {
  return Applying(graph, problem, schedule, again).run();
}

}  // namespace rw
