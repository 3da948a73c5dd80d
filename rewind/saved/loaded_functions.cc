// Functions of a SavedModel: traces, the graphs behind them with what they capture, signatures.
#include <algorithm>

#include "rewind/base/error_context.h"
#include "rewind/function/function_origin.h"
#include "rewind/graph/attr_proto.h"
#include "rewind/graph/graph.h"
#include "rewind/graph/tensor_proto.h"
#include "rewind/runtime/constant.h"
#include "rewind/saved/loaded_state.h"
#include "rewind/saved/loaded_structure.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/tensor_impl.h"
#include "rewind/tensor/trace.h"

namespace rw::saved_model {
namespace {

std::string listed(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& n : names) text += (text.empty() ? "" : ", ") + n;
  return text;
}

// With an explanation of the first op that has one.
std::string missing_text(const std::set<std::string>& missing) {
  std::string text = "the function needs ops that this build does not have: " + listed(missing);
  const std::string plain = "there is no op ";
  for (const std::string& op : missing)
    if (const std::string why = missing_op_text(op); !why.starts_with(plain)) return text + "; " + why;
  return text;
}

// What stands behind the handle of one of the variables.
std::shared_ptr<const VariableSpec> variable_spec(const Tensor& handle,
                                                  const std::vector<Variable>& variables) {
  for (const Variable& v : variables)
    if (v.handle().impl() == handle.impl())
      return std::make_shared<VariableSpec>(VariableSpec{v.dtype(), v.shape()});
  return nullptr;
}

void add_specs(const Value& value, std::map<std::string, TensorSpec>* out) {
  if (const Dict* dict = value.get_if<Dict>())
    for (const auto& [name, v] : *dict)
      if (const auto* spec = v.get_if<TensorSpec>()) out->emplace(name, *spec);
}

}  // namespace

const format::SavedConcreteFunction& LoadedState::saved_function(const std::string& name) const {
  const auto saved = objects().concrete_functions.find(name);
  if (saved == objects().concrete_functions.end())
    fail_invalid(kLoad, "there is no concrete function '" + name + "'");
  return saved->second;
}

const LoadedState::SavedTrace& LoadedState::trace(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  if (const auto it = traces_.find(name); it != traces_.end()) return it->second;
  const format::SavedConcreteFunction& saved = saved_function(name);
  SavedTrace trace;
  if (const auto& in = saved.canonicalized_input_signature) trace.inputs = from_structured_value(*in);
  if (const auto& out = saved.output_signature) trace.outputs = from_structured_value(*out);
  return traces_.emplace(name, std::move(trace)).first->second;
}

std::shared_ptr<const LoadedFunction::Core> LoadedState::function(int node, const std::string& name) const {
  const std::lock_guard lock(mutex_);
  if (const auto it = functions_.find(node); it != functions_.end()) return it->second;
  auto core = std::make_shared<LoadedFunction::Core>();
  core->name = name;
  core->called = "function " + name;
  core->tag = of_this(core->called);
  const format::FunctionSpec* spec = nullptr;
  if (const auto* f = std::get_if<format::SavedFunction>(&object(node).kind)) {
    core->traces = f->concrete_functions;
    if (f->function_spec) spec = &*f->function_spec;
  } else {
    const auto& f_bare = std::get<format::SavedBareConcreteFunction>(object(node).kind);
    core->traces = {f_bare.concrete_function_name};
    if (f_bare.function_spec) spec = &*f_bare.function_spec;
  }
  if (spec && spec->fullargspec) core->parameters.emplace(*spec);
  functions_.emplace(node, core);
  return core;
}

std::shared_ptr<const ConcreteFunction> LoadedState::concrete(const std::string& name,
                                                              const std::string& called) const {
  const std::lock_guard lock(mutex_);
  if (const auto it = concrete_.find(name); it != concrete_.end()) return it->second;
  const OpCheck::Problems& problems = check_.of(name);
  if (!problems.missing.empty()) fail_unimplemented(of_this(called), missing_text(problems.missing));
  if (!problems.refused.empty())
    fail_unimplemented(of_this(called),
                       "the function needs ops that a loaded model may not use: " + listed(problems.refused) +
                           "; LoadOptions::allowed_ops allows them by name");
  auto made = naming_file(dir_, "[" + of_this(called) + "] ", [&] { return build(name); });
  set_origin(*made, of_this(called));
  return concrete_[name] = std::move(made);
}

std::shared_ptr<const ConcreteFunction> LoadedState::build(const std::string& name) const {
  if (const auto session = sessions_.find(name); session != sessions_.end())
    return build_session(name, session->second);
  std::vector<ArgumentFacts> facts = library_.arguments_of(name);
  std::vector<Tensor> captures;
  std::vector<Variable> variables;
  if (const auto saved = objects().concrete_functions.find(name); saved != objects().concrete_functions.end())
    for (const int32_t node : saved->second.bound_inputs) captures.push_back(captured(node, &variables));
  if (captures.size() > facts.size())
    fail_invalid(kLoad, "function " + name + " has " + std::to_string(facts.size()) + " arguments: got " +
                            std::to_string(captures.size()) + " captured values");
  const size_t arguments = facts.size() - captures.size();
  for (size_t i = 0; i < captures.size(); ++i)
    facts[arguments + i] = {captures[i].shape(), variable_spec(captures[i], variables)};
  const auto graph = library_.get(name, facts);
  for (size_t i = 0; i < captures.size(); ++i)
    if (const DType dtype = graph->value(graph->arguments[arguments + i]).dtype; dtype != captures[i].dtype())
      fail_invalid(kLoad, "function " + name + ": what it captures as " +
                              graph->argument_names[arguments + i] + " must be " +
                              std::string(name_of(dtype)) + ": got " +
                              std::string(name_of(captures[i].dtype())));
  const bool described = objects().concrete_functions.contains(name);
  return std::make_shared<const ConcreteFunction>(
      graph, arguments, std::move(captures), std::move(variables), options_.memory_budget,
      described ? call_structure(trace(name).inputs, trace(name).outputs, arguments, graph->outputs.size())
                : CallStructure());
}

const std::string& LoadedState::only_trace_of(int node, const char* name) const {
  const std::vector<std::string>& traces = function(node, name)->traces;
  if (traces.size() != 1)
    fail_invalid(kLoad, dir_ + "/saved_model.pb: function " + name + " must have one trace: got " +
                            std::to_string(traces.size()));
  return traces[0];
}

Tensor LoadedState::captured(int node, std::vector<Variable>* variables) const {
  if (const Variable& v = variable(node); v.defined()) {
    const bool known = std::any_of(variables->begin(), variables->end(),
                                   [&](const Variable& other) { return same_variable(other, v); });
    if (!known) variables->push_back(v);
    return v.handle();
  }
  if (const Tensor& value = values_[size_t(node)]; value.defined()) return value;
  if (std::holds_alternative<format::SavedResource>(object(node).kind)) return made_resource(node);
  fail_unimplemented(kLoad,
                     "a function that captures object " + std::to_string(node) +
                         ", which is no variable, constant, asset or resource, only runs inside another one");
}

// Made and filled at the first use; its own functions may already ask for it.
Tensor LoadedState::made_resource(int node) const {
  Tensor& resource = resources_[size_t(node)];
  if (resource.defined()) return resource;
  if (!in_making_.insert(node).second)
    fail_invalid(kLoad, dir_ + "/saved_model.pb: the functions that make object " + std::to_string(node) +
                            " capture it");
  struct InMaking {
    std::set<int>& nodes;
    int node;
    ~InMaking() { nodes.erase(node); }
  };
  const InMaking in_making{in_making_, node};
  const int create = child(node, "_create_resource"), initialize = child(node, "_initialize");
  if (create < 0 || !is_function(create))
    fail_unimplemented(kLoad, "a resource without a function that makes it");
  const auto made = (*concrete(only_trace_of(create, "_create_resource"), "function _create_resource"))({});
  if (made.size() != 1 || made[0].dtype() != DType::kResource)
    fail_invalid(kLoad, "_create_resource must give one resource");
  resource = made[0];
  try {
    if (initialize >= 0 && is_function(initialize))
      (*concrete(only_trace_of(initialize, "_initialize"), "function _initialize"))({});
    if (const SavedTable& held = variables_->table(size_t(node)); held.keys.defined())
      rw::apply(RW_OP("LookupTableImportV2"), {&resource, &held.keys, &held.values});
  } catch (...) {
    resource = Tensor();  // nobody finds it half filled
    throw;
  }
  return resource;
}

// Gradients of the user's own, with what they capture of the functions that they belong to.
void LoadedState::find_gradients() {
  const auto* library = graph_.graph_def && graph_.graph_def->library ? &*graph_.graph_def->library : nullptr;
  if (!library || library->registered_gradients.empty()) return;
  const CapturedBy captured_by = find_captured_by();
  size_t captures = 0;
  for (const auto& registered : library->registered_gradients) {
    const auto saved = objects().concrete_functions.find(registered.gradient_func);
    if (saved == objects().concrete_functions.end()) continue;
    if (library_.gradient(registered.registered_op_type)) continue;
    SavedGradient gradient{.function = registered.gradient_func, .given = {}, .captures = {}};
    const List* results = trace(registered.gradient_func).outputs.get_if<List>();
    for (size_t i = 0; results && i < results->elements.size(); ++i)
      if (!results->elements[i].is_none()) gradient.given.push_back(int64_t(i));
    for (const int32_t node : saved->second.bound_inputs) {
      gradient.captures.push_back(gradient_capture(node, captured_by));
      constexpr size_t kMost = 1'000'000;
      captures += 1 + gradient.captures.back().value_in.size();
      if (captures > kMost)
        fail_exhausted(kLoad, dir_ + "/saved_model.pb: gradient functions capture more than " +
                                  std::to_string(kMost) + " values");
    }
    library_.add_gradient(registered.registered_op_type, std::move(gradient));
  }
}

// Where the functions of the library take the values of variables.
LoadedState::CapturedBy LoadedState::find_captured_by() const {
  CapturedBy found;
  for (const auto& [name, f] : objects().concrete_functions) {
    if (!library_.has(name)) continue;
    const std::vector<std::string> arguments = library_.argument_names(name);
    for (size_t i = 0; i < f.bound_inputs.size(); ++i) {
      const size_t from_end = f.bound_inputs.size() - i;
      auto& uses = found[f.bound_inputs[i]];
      const bool again = !uses.empty() && uses.back().first == name;
      if (from_end <= arguments.size() && !again)
        uses.emplace_back(name, arguments[arguments.size() - from_end]);
    }
  }
  return found;
}

SavedGradient::Capture LoadedState::gradient_capture(int node, const CapturedBy& captured_by) const {
  SavedGradient::Capture capture;
  if (const auto* inside = std::get_if<format::CapturedTensor>(&object(node).kind)) {
    capture.value_in.emplace(inside->concrete_function, inside->name);
  } else if (const Tensor& value = values_[size_t(node)]; value.defined()) {
    capture.constant = as_constant(*value.impl());
  } else if (variable(node).defined()) {
    if (const auto uses = captured_by.find(node); uses != captured_by.end())
      capture.value_in.insert(uses->second.begin(), uses->second.end());
  }
  return capture;
}

std::map<std::string, SignatureFunction> LoadedState::signatures() const {
  std::map<std::string, SignatureFunction> list;
  const int map = child(0, "signatures");
  if (map < 0) return list;
  for (const auto& c : object(map).children) {
    std::string f;
    if (const auto* bare = std::get_if<format::SavedBareConcreteFunction>(&object(c.node_id).kind))
      f = bare->concrete_function_name;
    if (const auto* poly = std::get_if<format::SavedFunction>(&object(c.node_id).kind);
        poly && !poly->concrete_functions.empty())
      f = poly->concrete_functions[0];
    if (f.empty()) continue;
    auto core = std::make_shared<SignatureFunction::Core>(signature(c.local_name, f));
    list.emplace(c.local_name, SignatureFunction(shared_from_this(), std::move(core)));
  }
  return list;
}

SignatureFunction::Core LoadedState::signature(const std::string& name, const std::string& function) const {
  SignatureFunction::Core core;
  core.name = name;
  core.function = function;
  core.called = "signature " + name;
  core.tag = of_this(core.called);
  const SavedTrace& saved = trace(function);
  if (const List* parts = saved.inputs.get_if<List>(); parts && parts->elements.size() == 2)
    add_specs(parts->elements[1], &core.inputs);
  add_specs(saved.outputs, &core.outputs);
  for (const auto& [n, spec] : core.inputs) core.input_order.push_back(n);
  for (const auto& [n, spec] : core.outputs) core.output_order.push_back(n);
  if (const auto def = graph_.signature_def.find(name); def != graph_.signature_def.end())
    for (const auto& [n, value] : def->second.defaults)
      if (core.inputs.contains(n))
        core.defaults.emplace(n, make_tensor(as_value(library_.constants().get(value))));
  return core;
}

}  // namespace rw::saved_model
