#include "rewind/function/concrete_function.h"

#include <mutex>
#include <optional>

#include "rewind/autodiff/gradient.h"
#include "rewind/base/error.h"
#include "rewind/compiler/rewrite.h"
#include "rewind/function/call_again.h"
#include "rewind/function/call_gradient.h"
#include "rewind/function/control_rules.h"
#include "rewind/function/graph_runner.h"
#include "rewind/function/staging.h"
#include "rewind/graph/bodies.h"
#include "rewind/graph/dot.h"
#include "rewind/graph/graph_def.h"
#include "rewind/tensor/thread_state.h"
#include "rewind/tensor/trace.h"
#include "rewind/tensor/variable_watch.h"

namespace rw {
namespace {

std::vector<Tensor> with_captures(std::span<const Tensor> arguments, const std::vector<Tensor>& captures) {
  std::vector<Tensor> all(arguments.begin(), arguments.end());
  all.insert(all.end(), captures.begin(), captures.end());
  return all;
}

template <class List>
void assign(std::vector<Tensor>&& from, List* to) {
  to->clear();
  for (Tensor& t : from) to->push_back(std::move(t));
}

}  // namespace

bool TensorSpec::admits_shape(const Shape& s) const {
  if (!shape.has_rank()) return true;
  if (s.rank() != shape.rank()) return false;
  for (int k = 0; k < s.rank(); ++k)
    if (shape[k] >= 0 && shape[k] != s[k]) return false;
  return true;
}

std::string TensorSpec::to_string() const {
  return "TensorSpec(shape=" + shape.to_string() + ", dtype=" + std::string(name_of(dtype)) +
         (name.empty() ? ")" : ", name='" + name + "')");
}

std::vector<FunctionGraph::Operation> FunctionGraph::operations() const {
  std::vector<Operation> list;
  auto value_name = [&](ValueId v) {
    const GraphValue& value = graph_->value(v);
    if (value.node < 0) {
      const std::string& name = graph_->argument_names[size_t(value.index)];
      return name.empty() ? "arg" + std::to_string(value.index) : name;
    }
    return graph_->name_of(value.node) + ":" + std::to_string(value.index);
  };
  for (size_t i = 0; i < graph_->nodes().size(); ++i) {
    Operation op{graph_->name_of(NodeId(i)), graph_->nodes()[i].op->name, {}};
    for (const ValueId v : graph_->nodes()[i].inputs) op.inputs.push_back(value_name(v));
    list.push_back(std::move(op));
  }
  return list;
}
std::string FunctionGraph::to_string() const { return graph_->to_string(); }
// TensorFlow has no word for a gradient of the user's own, or for what is computed again: the value alone
// goes out. Also inside of functions, of which those that are one stay one.
static Graph for_export(const Graph& graph, std::map<BodyRef, BodyRef>& bodies) {
  const auto has_own_gradient = [](const Node& n) {
    return n.op->name == "_CustomGradient" || n.op->name == "_Recompute";
  };
  const auto export_body = [&](const BodyRef& body) {
    BodyRef& made = bodies[body];
    if (!made)
      made = any_node(graph_of(*body), has_own_gradient)
                 ? BodyRef(std::make_shared<const Graph>(for_export(graph_of(*body), bodies)))
                 : body;
    return made;
  };
  return rewrite(graph, [&](NodeId id, GraphCopy& copy, Graph&) {
    const Node& n = graph.node(id);
    if (!has_own_gradient(n)) {
      copy.node(id, with_bodies(n.attrs, export_body));
      return;
    }
    for (size_t k = 0; k < n.outputs.size(); ++k) copy.set(n.outputs[k], copy[n.inputs[k]]);
  });
}
static format::GraphDef exported(const Graph& graph) {
  std::map<BodyRef, BodyRef> bodies;
  return to_graph_def(for_export(graph, bodies));
}

std::string FunctionGraph::as_graph_def() const { return format::to_text(exported(*graph_)); }
std::string FunctionGraph::as_graph_def_binary() const { return format::encode(exported(*graph_)); }
std::string FunctionGraph::as_dot() const { return to_dot(*graph_); }

// What runs: the graph compiled, and its differentiated forms by which inputs tapes follow.
struct FunctionVariants {
  explicit FunctionVariants(const ConcreteFunction& f) : runner(f.graph_, f.memory_budget_) {
    for (const Node& n : f.graph_->nodes()) has_effects |= n.op->stateful && effects_of(n).any();
  }
  // nullptr when the call must be taken op by op.
  const CallAgain* call_again(const Graph& graph) {
    std::call_once(split_once, [&] { split = split_effects(graph); });
    return split ? &*split : nullptr;
  }
  GraphRunner runner;
  TrainingVariants training;
  bool has_effects = false;
  std::once_flag split_once;
  std::optional<CallAgain> split;
};

ConcreteFunction::ConcreteFunction(const Ref<Trace>& trace, int64_t memory_budget)
    : ConcreteFunction(trace->graph_ref(), trace->num_arguments(), trace->captures(), trace->variables(),
                       memory_budget) {}

ConcreteFunction::ConcreteFunction(std::shared_ptr<const Graph> graph, size_t num_arguments,
                                   std::vector<Tensor> captures, std::vector<Variable> variables,
                                   int64_t memory_budget)
    : graph_(std::move(graph)),
      num_arguments_(num_arguments),
      memory_budget_(memory_budget),
      captures_(std::move(captures)),
      variables_(std::move(variables)),
      variants_(std::make_unique<FunctionVariants>(*this)) {
  RW_CHECK(graph_->arguments.size() == num_arguments_ + captures_.size());
  link_control_flow_rules();
}
ConcreteFunction::~ConcreteFunction() = default;

// A body with open sizes says less about its results than the call knows.
bool ConcreteFunction::fits_as_node(const std::vector<Tensor>& inputs) const {
  if (!calls_become_nodes()) return false;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!(inputs[i].shape() == graph_->value(graph_->arguments[i]).shape)) return false;
  return true;
}

std::vector<Tensor> ConcreteFunction::add_call(const std::vector<Tensor>& inputs) const {
  const Tensors outputs = apply_control("StatefulPartitionedCall", inputs,
                                        {{"Tout", graph_->output_types()}, {"f", BodyRef(graph_)}});
  Trace& trace = *current_trace();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const GraphValue& inside = graph_->value(graph_->outputs[i]);
    GraphValue& here = trace.graph().value(trace.value_of(outputs[i]));
    here.known = inside.known;
    here.variable = inside.variable;
  }
  return {outputs.begin(), outputs.end()};
}

MemoryReport ConcreteFunction::memory_plan(std::span<const Tensor> arguments) const {
  return *variants_->runner.memory_report(arguments, captures_);
}

void ConcreteFunction::call(std::span<const Tensor> arguments, SmallVector<Tensor, 4>* results) const {
  if (arguments.size() != num_arguments_)
    fail_invalid(graph_->name, "takes " + std::to_string(num_arguments_) + " tensors: got " +
                                   std::to_string(arguments.size()));
  ThreadState& state = thread_state();
  if (!state.trace && !state.recorders && state.depth == 0 && !state.effects) [[likely]]
    return variants_->runner.run(arguments, captures_, results);
  const std::vector<Tensor> inputs = with_captures(arguments, captures_);
  for (const Variable& v : variables_) {
    for (Trace* t = state.trace; t; t = t->part_of_outer ? t->outer() : nullptr) t->note_variable(v);
    watch_variable(v);
  }
  if (state.trace) return assign(fits_as_node(inputs) ? add_call(inputs) : replay(*graph_, inputs), results);
  bool followed = false;
  bool only_tapes = true;
  bool batched = false;
  for (const Tensor& t : inputs) {
    batched |= t.impl()->kind == TensorKind::kBatched;
    for (const Recorder* r = state.recorders; r; r = r->outer) {
      if (r->paused || !r->follows(t)) continue;
      followed = true;
      only_tapes &= r->is_tape() && r->depth == state.depth;
    }
  }
  if (state.effects && variants_->has_effects) return assign(replay(*graph_, inputs), results);
  if (!batched && followed && heard_for_repeating())
    if (const CallAgain* again = variants_->call_again(*graph_))
      return assign(again->call(inputs, graph_->outputs.size()), results);
  if (batched || !only_tapes) return assign(replay(*graph_, inputs), results);
  if (!followed) return variants_->runner.run(arguments, captures_, results);
  assign(variants_->training.call(*this, inputs), results);
}

std::vector<Tensor> ConcreteFunction::operator()(const std::vector<Tensor>& arguments) const {
  for (size_t i = 0; i < arguments.size() && i < num_arguments_; ++i) {
    const GraphValue& v = graph_->value(graph_->arguments[i]);
    const Tensor& t = arguments[i];
    if (t.dtype() == v.dtype && v.shape.compatible_with(t.shape())) continue;
    fail_invalid(graph_->name, "argument " + std::to_string(i) + " must be " + inputs()[i].to_string() +
                                   ": got " + TensorSpec{t.shape(), t.dtype()}.to_string());
  }
  SmallVector<Tensor, 4> results;
  call(arguments, &results);
  return {results.begin(), results.end()};
}

const std::string& ConcreteFunction::name() const { return graph_->name; }

std::vector<TensorSpec> ConcreteFunction::inputs() const {
  std::vector<TensorSpec> specs;
  for (size_t i = 0; i < num_arguments_; ++i) {
    const GraphValue& v = graph_->value(graph_->arguments[i]);
    specs.push_back({v.shape, v.dtype, graph_->argument_names[i]});
  }
  return specs;
}
std::vector<TensorSpec> ConcreteFunction::outputs() const {
  std::vector<TensorSpec> specs;
  for (const ValueId id : graph_->outputs)
    specs.push_back({graph_->value(id).shape, graph_->value(id).dtype});
  return specs;
}
std::vector<Variable> ConcreteFunction::trainable_variables() const {
  std::vector<Variable> list;
  for (const Variable& v : variables_)
    if (v.trainable()) list.push_back(v);
  return list;
}

std::string ConcreteFunction::signature() const {
  std::string text = graph_->name + "(";
  const auto in = inputs();
  for (size_t i = 0; i < in.size(); ++i) text += (i ? ", " : "") + in[i].to_string();
  text += ") -> (";
  const auto out = outputs();
  for (size_t i = 0; i < out.size(); ++i) text += (i ? ", " : "") + out[i].to_string();
  return text + ")";
}

}  // namespace rw
