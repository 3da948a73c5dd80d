#include "rewind/function/concrete_function.h"

#include <mutex>
#include <optional>

#include "rewind/autodiff/gradient.h"
#include "rewind/base/error.h"
#include "rewind/base/error_context.h"
#include "rewind/compiler/rewrite.h"
#include "rewind/function/call_again.h"
#include "rewind/function/call_gradient.h"
#include "rewind/function/control_rules.h"
#include "rewind/function/function_origin.h"
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
  FunctionVariants(const std::shared_ptr<const Graph>& graph, int64_t memory_budget)
      : runner(graph, memory_budget) {
    for (const Node& n : graph->nodes()) has_effects |= n.op->stateful && effects_of(n).any();
  }
  // nullptr when the call must be taken op by op.
  const CallAgain* call_again(const Graph& graph) {
    std::call_once(split_once, [&] { split = split_effects(graph); });
    return split ? &*split : nullptr;
  }
  static FunctionVariants& of(const ConcreteFunction& f);
  GraphRunner runner;
  TrainingVariants training;
  std::string origin;  // set_origin()
  bool has_effects = false;
  std::once_flag split_once;
  std::optional<CallAgain> split;
};

struct ConcreteFunction::State {
  std::shared_ptr<const Graph> graph;
  size_t num_arguments;
  std::vector<Tensor> captures;
  std::vector<Variable> variables;
  CallStructure structure;
  std::unique_ptr<FunctionVariants> variants;
};

FunctionVariants& FunctionVariants::of(const ConcreteFunction& f) { return *f.state_->variants; }
void set_origin(const ConcreteFunction& function, std::string origin) {
  FunctionVariants::of(function).origin = std::move(origin);
}
std::string origin_of(const ConcreteFunction& function) {
  const std::string& origin = FunctionVariants::of(function).origin;
  return origin.empty() ? function.name() : origin;
}

ConcreteFunction::ConcreteFunction(const Ref<Trace>& trace, int64_t memory_budget, CallStructure structure)
    : ConcreteFunction(trace->graph_ref(), trace->num_arguments(), trace->captures(), trace->variables(),
                       memory_budget, std::move(structure)) {}

ConcreteFunction::ConcreteFunction(std::shared_ptr<const Graph> graph, size_t num_arguments,
                                   std::vector<Tensor> captures, std::vector<Variable> variables,
                                   int64_t memory_budget, CallStructure structure) {
  RW_CHECK(graph->arguments.size() == num_arguments + captures.size());
  auto variants = std::make_unique<FunctionVariants>(graph, memory_budget);
  state_ =
      std::make_shared<const State>(State{std::move(graph), num_arguments, std::move(captures),
                                          std::move(variables), std::move(structure), std::move(variants)});
  link_control_flow_rules();
}

FunctionResults::operator Tensor() const {
  if (list_.size() != 1)
    fail_invalid("function",
                 "a call with " + std::to_string(list_.size()) + " results is no tensor: index them");
  return list_[0];
}

FunctionGraph ConcreteFunction::graph() const { return FunctionGraph(state_->graph); }
const std::vector<Tensor>& ConcreteFunction::captured_inputs() const { return state_->captures; }
const std::vector<Variable>& ConcreteFunction::variables() const { return state_->variables; }
const CallStructure& ConcreteFunction::structure() const { return state_->structure; }
DType ConcreteFunction::argument_type(size_t i) const {
  return i < state_->num_arguments ? state_->graph->value(state_->graph->arguments[i]).dtype
                                   : DType::kInvalid;
}

// A body with open sizes says less about its results than the call knows.
bool ConcreteFunction::fits_as_node(const std::vector<Tensor>& inputs) const {
  if (!calls_become_nodes()) return false;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!(inputs[i].shape() == state_->graph->value(state_->graph->arguments[i]).shape)) return false;
  return true;
}

std::vector<Tensor> ConcreteFunction::add_call(const std::vector<Tensor>& inputs) const {
  const Tensors outputs =
      apply_control("StatefulPartitionedCall", inputs,
                    {{"Tout", state_->graph->output_types()}, {"f", BodyRef(state_->graph)}});
  Trace& trace = *current_trace();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const GraphValue& inside = state_->graph->value(state_->graph->outputs[i]);
    GraphValue& here = trace.graph().value(trace.value_of(outputs[i]));
    here.known = inside.known;
    here.variable = inside.variable;
  }
  return {outputs.begin(), outputs.end()};
}

MemoryReport ConcreteFunction::memory_plan(std::span<const Tensor> arguments) const {
  return *state_->variants->runner.memory_report(arguments, state_->captures);
}

// What errors call it.
static const std::string& called(const FunctionVariants& variants, const Graph& graph) {
  return variants.origin.empty() ? graph.name : variants.origin;
}

void ConcreteFunction::call(std::span<const Tensor> arguments, SmallVector<Tensor, 4>* results) const try {
  if (arguments.size() != state_->num_arguments)
    fail_invalid(called(*state_->variants, *state_->graph), "takes " + std::to_string(state_->num_arguments) +
                                                                " tensors: got " +
                                                                std::to_string(arguments.size()));
  ThreadState& state = thread_state();
  if (!state.trace && !state.recorders && state.depth == 0 && !state.effects) [[likely]]
    return state_->variants->runner.run(arguments, state_->captures, results);
  const std::vector<Tensor> inputs = with_captures(arguments, state_->captures);
  for (const Variable& v : state_->variables) {
    for (Trace* t = state.trace; t; t = t->part_of_outer ? t->outer() : nullptr) t->note_variable(v);
    watch_variable(v);
  }
  if (state.trace)
    return assign(fits_as_node(inputs) ? add_call(inputs) : replay(*state_->graph, inputs), results);
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
  if (state.effects && state_->variants->has_effects) return assign(replay(*state_->graph, inputs), results);
  if (!batched && followed && heard_for_repeating())
    if (const CallAgain* again = state_->variants->call_again(*state_->graph))
      return assign(again->call(inputs, state_->graph->outputs.size()), results);
  if (batched || !only_tapes) return assign(replay(*state_->graph, inputs), results);
  if (!followed) return state_->variants->runner.run(arguments, state_->captures, results);
  assign(state_->variants->training.call(*this, inputs), results);
} catch (const Error& e) {
  const std::string& origin = state_->variants->origin;
  if (origin.empty() || std::string_view(e.what()).find(origin) != std::string_view::npos) throw;
  throw_like(e, std::string(e.what()) + "; in " + origin);
}

std::vector<Tensor> ConcreteFunction::operator()(const std::vector<Tensor>& arguments) const {
  for (size_t i = 0; i < arguments.size() && i < state_->num_arguments; ++i) {
    const GraphValue& v = state_->graph->value(state_->graph->arguments[i]);
    const Tensor& t = arguments[i];
    if (t.dtype() == v.dtype && v.shape.compatible_with(t.shape())) continue;
    fail_invalid(called(*state_->variants, *state_->graph), "argument " + std::to_string(i) + " must be " +
                                                                inputs()[i].to_string() + ": got " +
                                                                TensorSpec{t.shape(), t.dtype()}.to_string());
  }
  SmallVector<Tensor, 4> results;
  call(arguments, &results);
  return {results.begin(), results.end()};
}

const std::string& ConcreteFunction::name() const { return state_->graph->name; }

std::vector<TensorSpec> ConcreteFunction::inputs() const {
  std::vector<TensorSpec> specs;
  for (size_t i = 0; i < state_->num_arguments; ++i) {
    const GraphValue& v = state_->graph->value(state_->graph->arguments[i]);
    specs.push_back({v.shape, v.dtype, state_->graph->argument_names[i]});
  }
  return specs;
}
std::vector<TensorSpec> ConcreteFunction::outputs() const {
  std::vector<TensorSpec> specs;
  for (const ValueId id : state_->graph->outputs)
    specs.push_back({state_->graph->value(id).shape, state_->graph->value(id).dtype});
  return specs;
}
std::vector<Variable> ConcreteFunction::trainable_variables() const {
  std::vector<Variable> list;
  for (const Variable& v : state_->variables)
    if (v.trainable()) list.push_back(v);
  return list;
}

std::string ConcreteFunction::signature() const {
  std::string text = state_->graph->name + "(";
  const auto in = inputs();
  for (size_t i = 0; i < in.size(); ++i) text += (i ? ", " : "") + in[i].to_string();
  text += ") -> (";
  const auto out = outputs();
  for (size_t i = 0; i < out.size(); ++i) text += (i ? ", " : "") + out[i].to_string();
  return text + ")";
}

}  // namespace rw
