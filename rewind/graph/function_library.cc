// Functions of a library as graphs.
#include <algorithm>
#include <deque>

#include "rewind/base/error.h"
#include "rewind/graph/body_reader.h"
#include "rewind/graph/graph_def.h"
#include "rewind/graph/node_order.h"

namespace rw {
namespace {

using format::FunctionDef;
using format::NodeDef;

// Calls of functions inside functions, as deep as a program written by people goes.
constexpr size_t kMaxCallDepth = 200;
// Graphs of functions whose callers know less than the function says.
constexpr size_t kMostVariants = 10'000;

// The node's name in "Exp:0".
std::string node_of(const std::string& value) { return value.substr(0, value.find(':')); }

// Nodes with gradients of the user's own come behind what these capture: copies that say so.
std::vector<const NodeDef*> behind_captures(const FunctionDef& def, const FunctionLibraryReader& library,
                                            const std::unordered_set<std::string>& arguments,
                                            std::deque<NodeDef>* copies) {
  std::vector<const NodeDef*> nodes;
  for (const NodeDef& node : def.node_def) {
    nodes.push_back(&node);
    const SavedGradient* gradient = saved_gradient(node, library);
    if (!gradient) continue;
    NodeDef* copy = nullptr;
    for (const SavedGradient::Capture& capture : gradient->captures) {
      const auto value = capture.value_in.find(def.signature->name);
      if (value == capture.value_in.end() || arguments.count(node_of(value->second))) continue;
      if (!copy) copy = &copies->emplace_back(node);
      copy->input.push_back("^" + node_of(value->second));
    }
    if (copy) nodes.back() = copy;
  }
  return nodes;
}

std::shared_ptr<const Graph> from_function_def(const FunctionDef& def,
                                               const std::vector<ArgumentFacts>& facts,
                                               FunctionLibraryReader* library) {
  const format::OpDef& signature = *def.signature;
  if (!signature.attr.empty())
    fail_unimplemented("GraphDef",
                       "function " + signature.name + " with parameters (" + signature.attr[0].name + ")");
  auto graph = std::make_shared<Graph>();
  graph->name = signature.name;
  BodyReader body(graph.get(), true, library);
  std::unordered_set<std::string> arguments;
  for (size_t i = 0; i < signature.input_arg.size(); ++i) {
    const format::OpDef::ArgDef& arg = signature.input_arg[i];
    if (to_dtype(arg.type) == DType::kInvalid || !arg.number_attr.empty() || !arg.type_list_attr.empty())
      fail_unimplemented("GraphDef", "argument " + arg.name + " of function " + signature.name);
    if (!arguments.insert(arg.name).second)
      fail_graph_def("function " + signature.name + " has two arguments " + quote(arg.name));
    body.add_argument(arg.name, to_dtype(arg.type), facts[i]);
  }
  for (const NodeDef& node : def.node_def)
    if (arguments.count(node.name))
      fail_graph_def("function " + signature.name + ": a node and an argument are called " +
                     quote(node.name));
  std::deque<NodeDef> copies;
  const std::vector<const NodeDef*> nodes = behind_captures(def, *library, arguments, &copies);
  for (const size_t i : NodeOrder(nodes, arguments).find()) body.add(*nodes[i]);
  for (const format::OpDef::ArgDef& arg : signature.output_arg) {
    const auto it = def.ret.find(arg.name);
    if (it == def.ret.end())
      fail_graph_def("function " + signature.name + " says nothing of its result " + quote(arg.name));
    graph->outputs.push_back(body.value(it->second));
  }
  return graph;
}

std::string text_of(const ArgumentFacts& facts) {
  std::string text = facts.shape.to_string();
  if (facts.variable)
    text += "*" + std::string(name_of(facts.variable->dtype)) + facts.variable->shape.to_string();
  return text + ";";
}

}  // namespace

bool says_more(const Shape& more, const Shape& less) {
  if (!less.has_rank()) return true;
  if (!more.has_rank() || more.rank() != less.rank()) return false;
  for (int k = 0; k < less.rank(); ++k)
    if (less[k] >= 0 && less[k] != more[k]) return false;
  return true;
}

Shape common_shape(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank()) return Shape::unknown_rank();
  Shape common = a;
  for (int k = 0; k < a.rank(); ++k)
    if (a[k] != b[k]) common.set(k, Shape::kUnknown);
  return common;
}

bool same_variable_spec(const std::shared_ptr<const VariableSpec>& a,
                        const std::shared_ptr<const VariableSpec>& b) {
  return a == b || (a && b && a->dtype == b->dtype && a->shape == b->shape);
}

FunctionLibraryReader::FunctionLibraryReader(const format::FunctionDefLibrary& library,
                                             int64_t max_constant_bytes)
    : constants_(max_constant_bytes) {
  for (const FunctionDef& f : library.function) {
    if (!f.signature || f.signature->name.empty()) fail_graph_def("a function of the library has no name");
    if (!functions_.emplace(f.signature->name, &f).second)
      fail_graph_def("two functions are called " + quote(f.signature->name));
  }
}

void FunctionLibraryReader::add_gradient(const std::string& gradient_op_type, SavedGradient gradient) {
  gradients_.insert_or_assign(gradient_op_type, std::move(gradient));
}

const SavedGradient* FunctionLibraryReader::gradient(const std::string& gradient_op_type) const {
  const auto it = gradients_.find(gradient_op_type);
  return it == gradients_.end() ? nullptr : &it->second;
}

bool FunctionLibraryReader::is_stateful(const std::string& name) const {
  const auto it = functions_.find(name);
  return it != functions_.end() && it->second->signature->is_stateful;
}

const FunctionDef& FunctionLibraryReader::definition(const std::string& name) const {
  const auto it = functions_.find(name);
  if (it == functions_.end()) fail_not_found("GraphDef", "there is no function " + name + " in the library");
  return *it->second;
}

std::vector<ArgumentFacts> FunctionLibraryReader::arguments_of(const std::string& name) const {
  const FunctionDef& def = definition(name);
  std::vector<ArgumentFacts> facts;
  for (size_t i = 0; i < def.signature->input_arg.size(); ++i) facts.push_back(argument_facts(def, i));
  return facts;
}

std::vector<std::string> FunctionLibraryReader::argument_names(const std::string& name) const {
  std::vector<std::string> names;
  for (const format::OpDef::ArgDef& arg : definition(name).signature->input_arg) names.push_back(arg.name);
  return names;
}

std::vector<std::string> FunctionLibraryReader::output_names(const std::string& name) const {
  std::vector<std::string> names;
  for (const format::OpDef::ArgDef& arg : definition(name).signature->output_arg) names.push_back(arg.name);
  return names;
}

std::shared_ptr<const Graph> FunctionLibraryReader::get(const std::string& name) {
  return build(name, nullptr);
}

std::shared_ptr<const Graph> FunctionLibraryReader::get(const std::string& name,
                                                        const std::vector<ArgumentFacts>& callers) {
  return build(name, &callers);
}

std::shared_ptr<const Graph> FunctionLibraryReader::build(const std::string& name,
                                                          const std::vector<ArgumentFacts>* callers) {
  const FunctionDef& def = definition(name);
  std::vector<ArgumentFacts> facts = arguments_of(name);
  std::string key = name;
  // A body that takes another number of arguments than the call has is refused by the op that calls.
  for (size_t i = 0; callers && i < std::min(facts.size(), callers->size()); ++i) {
    const ArgumentFacts& caller = (*callers)[i];
    const bool sound = says_more(caller.shape, facts[i].shape);
    const bool same = same_variable_spec(caller.variable, facts[i].variable);
    if (!sound) facts[i].shape = common_shape(caller.shape, facts[i].shape);
    if (!same) facts[i].variable = caller.variable;
    if (!sound || !same) key += " " + std::to_string(i) + text_of(facts[i]);
  }
  if (const auto made = graphs_.find(key); made != graphs_.end()) return made->second;
  if (graphs_.size() > functions_.size() + kMostVariants)
    fail_exhausted("GraphDef", "functions are called in more than " + std::to_string(kMostVariants) +
                                   " ways that differ from what they say of their arguments");
  if (std::find(in_work_.begin(), in_work_.end(), name) != in_work_.end())
    fail_unimplemented("GraphDef", "function " + name + " calls itself");
  if (in_work_.size() >= kMaxCallDepth)
    fail_unimplemented("GraphDef", "functions call each other deeper than " + std::to_string(kMaxCallDepth));
  struct InWork {
    std::vector<std::string>& names;
    ~InWork() { names.pop_back(); }
  };
  in_work_.push_back(name);
  const InWork in_work{in_work_};
  return graphs_[key] = from_function_def(def, facts, this);
}

}  // namespace rw
