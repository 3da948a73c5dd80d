#include "rewind/saved/loaded_model.h"

#include "rewind/base/error.h"
#include "rewind/saved/loaded_state.h"
#include "rewind/saved/loaded_view.h"

namespace rw::saved_model {
namespace {

template <class List>
std::string names_in(const List& list) {
  std::string text;
  for (const auto& [name, value] : list) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& n : names) text += (text.empty() ? "" : ", ") + n;
  return text.empty() ? "none" : text;
}

}  // namespace

// ---- signatures

SignatureFunction::SignatureFunction(std::shared_ptr<const LoadedState> state,
                                     std::shared_ptr<const Core> core)
    : state_(std::move(state)), core_(std::move(core)) {}
const std::map<std::string, TensorSpec>& SignatureFunction::inputs() const { return core_->inputs; }
const std::map<std::string, TensorSpec>& SignatureFunction::outputs() const { return core_->outputs; }
std::shared_ptr<const ConcreteFunction> SignatureFunction::concrete_function() const {
  return state_->concrete(core_->function, core_->called);
}

const std::string& SignatureFunction::only_input() const {
  if (core_->inputs.size() != 1)
    fail_invalid(core_->tag, "only a signature of one input takes a tensor without a name; inputs: " +
                                 names_in(core_->inputs));
  return core_->inputs.begin()->first;
}

std::map<std::string, Tensor> SignatureFunction::operator()(
    const std::map<std::string, Tensor>& inputs) const {
  const std::string& tag = core_->tag;
  for (const auto& [name, t] : inputs)
    if (!core_->inputs.contains(name))
      fail_invalid(tag, "there is no input '" + name + "'; inputs: " + names_in(core_->inputs));
  std::vector<Tensor> flat;
  for (const std::string& name : core_->input_order) {
    const auto given = inputs.find(name);
    const auto fallback = core_->defaults.find(name);
    if (given == inputs.end() && fallback == core_->defaults.end())
      fail_invalid(tag, "input '" + name + "' is missing; inputs: " + names_in(core_->inputs));
    const Tensor& t = given == inputs.end() ? fallback->second : given->second;
    const TensorSpec& spec = core_->inputs.at(name);
    if (!t.defined()) fail_invalid(tag, "input '" + name + "' is an undefined tensor");
    if (t.dtype() != spec.dtype || !spec.shape.compatible_with(t.shape()))
      fail_invalid(tag, "input '" + name + "' must be " + TensorSpec{spec.shape, spec.dtype}.to_string() +
                            ": got " + TensorSpec{t.shape(), t.dtype()}.to_string());
    flat.push_back(t);
  }
  const std::vector<Tensor> results = (*concrete_function())(flat);
  if (results.size() != core_->output_order.size())
    fail_invalid(tag, "must have " + std::to_string(core_->output_order.size()) + " outputs: got " +
                          std::to_string(results.size()));
  std::map<std::string, Tensor> by_name;
  for (size_t i = 0; i < results.size(); ++i) by_name.emplace(core_->output_order[i], results[i]);
  return by_name;
}

// ---- functions

struct LoadedFunction::Choice {
  const std::string* trace = nullptr;
  std::vector<Tensor> tensors;
};

LoadedFunction::LoadedFunction(std::shared_ptr<const LoadedState> state, std::shared_ptr<const Core> core)
    : state_(std::move(state)), core_(std::move(core)) {}
const std::string& LoadedFunction::name() const { return core_->name; }
std::string LoadedFunction::parameters() const {
  return core_->parameters ? core_->parameters->to_string() : "(...)";
}
std::vector<std::string> LoadedFunction::traces() const {
  std::vector<std::string> list;
  for (const std::string& name : core_->traces) list.push_back(signature_text(state_->trace(name).inputs));
  return list;
}

// TensorFlow's order: the first trace that takes the arguments as they are, else the first that takes them
// converted. Lists stand for tuples too, if no trace takes a list.
LoadedFunction::Choice LoadedFunction::choose(std::vector<Value> arguments, Dict by_name) const {
  const BoundArguments bound =
      core_->parameters ? core_->parameters->bind(core_->tag, std::move(arguments), std::move(by_name))
                        : BoundArguments{std::move(arguments), std::move(by_name)};
  for (const bool convert : {false, true})
    for (const bool same_lists : {true, false})
      for (const std::string& trace : core_->traces)
        if (auto tensors =
                fit(state_->trace(trace).inputs, bound, {.convert = convert, .same_lists = same_lists}))
          return {&trace, std::move(*tensors)};
  std::string text = "no trace takes these arguments: got " + bound.to_string() + "; the traces are";
  if (core_->traces.empty()) text += " none: the function was never called before it was saved";
  size_t number = 0;
  for (const std::string& trace : traces()) text += "\n  " + std::to_string(++number) + ". " + trace;
  fail_invalid(core_->tag, text);
}

std::vector<Tensor> LoadedFunction::call(std::vector<Value> arguments,
                                         std::map<std::string, Value> by_name) const {
  const Choice choice = choose(std::move(arguments), std::move(by_name));
  return (*state_->concrete(*choice.trace, core_->called))(choice.tensors);
}

Value LoadedFunction::call_structured(std::vector<Value> arguments,
                                      std::map<std::string, Value> by_name) const {
  const Choice choice = choose(std::move(arguments), std::move(by_name));
  return structured(state_->trace(*choice.trace).outputs,
                    (*state_->concrete(*choice.trace, core_->called))(choice.tensors));
}

Tensor LoadedFunction::only_result(std::vector<Value> arguments) const {
  const std::vector<Tensor> results = call(std::move(arguments), {});
  if (results.size() != 1)
    fail_invalid(core_->tag, "must give one tensor to be called this way: got " +
                                 std::to_string(results.size()) +
                                 "; call() gives all, call_structured() in their structure");
  return results[0];
}

std::shared_ptr<const ConcreteFunction> LoadedFunction::get_concrete_function(
    std::vector<Value> arguments, std::map<std::string, Value> by_name) const {
  return state_->concrete(*choose(std::move(arguments), std::move(by_name)).trace, core_->called);
}

std::vector<std::shared_ptr<const ConcreteFunction>> LoadedFunction::concrete_functions() const {
  std::vector<std::shared_ptr<const ConcreteFunction>> list;
  for (const std::string& trace : core_->traces) list.push_back(state_->concrete(trace, core_->called));
  return list;
}

// ---- objects

LoadedModel::LoadedModel(std::shared_ptr<const LoadedState> state,
                         std::shared_ptr<const Signatures> signatures, int node)
    : Module("loaded_model"), state_(std::move(state)), signatures_(std::move(signatures)), node_(node) {}

const std::map<std::string, SignatureFunction>& LoadedModel::signatures() const { return *signatures_; }
const std::vector<MissingOp>& LoadedModel::missing_ops() const { return state_->missing_ops(); }
const std::string& LoadedModel::path() const { return state_->dir(); }
const std::string& LoadedModel::tensorflow_version() const {
  static const auto& unknown = *new std::string;
  const auto& info = state_->graph().meta_info_def;
  return info ? info->tensorflow_version : unknown;
}

bool LoadedModel::has_function(const std::string& path) const {
  const int node = state_->at_path(node_, path);
  return node >= 0 && state_->is_function(node);
}

LoadedFunction LoadedModel::function(const std::string& path) const {
  const int node = state_->at_path(node_, path);
  if (node < 0 || !state_->is_function(node))
    fail_not_found(state_->of_this("LoadedModel"), "there is no function '" + path +
                                                       "'; functions: " + joined(function_names()) +
                                                       "; signatures: " + names_in(*signatures_));
  return {state_, state_->function(node, path)};
}

LoadedModel LoadedModel::child(const std::string& path) const {
  const int node = state_->at_path(node_, path);
  if (node < 0 || state_->is_function(node) || state_->variable(node).defined())
    fail_not_found(state_->of_this("LoadedModel"),
                   "there is no child '" + path + "'; children: " + joined(child_names()));
  return {state_, signatures_, node};
}

Variable LoadedModel::variable(const std::string& path) const {
  const int node = state_->at_path(node_, path);
  if (node >= 0 && state_->variable(node).defined()) return state_->variable(node);
  std::string known;
  for (const auto& [name, at] : state_->below(node_))
    if (state_->variable(at).defined() && known.size() < 500) known += (known.empty() ? "" : ", ") + name;
  fail_not_found(state_->of_this("LoadedModel"),
                 "there is no variable '" + path + "'; variables: " + (known.empty() ? "none" : known));
}

std::vector<std::string> LoadedModel::child_names() const {
  std::vector<std::string> names;
  for (const auto& c : state_->object(node_).children)
    if (!state_->is_function(c.node_id)) names.push_back(c.local_name);
  return names;
}

std::vector<std::string> LoadedModel::function_names() const {
  std::vector<std::string> names;
  for (const auto& c : state_->object(node_).children)
    if (state_->is_function(c.node_id)) names.push_back(c.local_name);
  return names;
}

namespace {

std::vector<Variable> listed_variables(const LoadedState& state, int node, const char* keras_list,
                                       bool (*wanted)(const Variable&)) {
  std::vector<Variable> list;
  const int keras = state.child(node, keras_list);
  const auto* object = keras < 0 ? nullptr : std::get_if<format::SavedUserObject>(&state.object(keras).kind);
  if (object && object->identifier.starts_with("trackable_")) {
    for (const auto& c : state.object(keras).children)
      if (const Variable& v = state.variable(c.node_id); v.defined()) list.push_back(v);
    return list;
  }
  for (const auto& [path, at] : state.below(node))
    if (const Variable& v = state.variable(at); v.defined() && wanted(v)) list.push_back(v);
  return list;
}

}  // namespace

std::vector<Variable> LoadedModel::variables() const {
  return listed_variables(*state_, node_, "variables", [](const Variable&) { return true; });
}
std::vector<Variable> LoadedModel::trainable_variables() const {
  return listed_variables(*state_, node_, "trainable_variables",
                          [](const Variable& v) { return v.trainable(); });
}
std::vector<Variable> LoadedModel::non_trainable_variables() const {
  return listed_variables(*state_, node_, "non_trainable_variables",
                          [](const Variable& v) { return !v.trainable(); });
}

void LoadedModel::visit_members(ChildCollector& collector) {
  collector.members("");
  for (const auto& [path, at] : state_->below(node_))
    if (const Variable& v = state_->variable(at); v.defined()) collector.members(path, v);
}

TrackablePtr LoadedModel::trackable() const { return loaded_view(state_, node_); }

}  // namespace rw::saved_model
