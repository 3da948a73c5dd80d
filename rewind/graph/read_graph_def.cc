// GraphDef and FunctionDef to Graph.
#include <algorithm>

#include "rewind/base/error.h"
#include "rewind/graph/attr_proto.h"
#include "rewind/graph/graph_def.h"
#include "rewind/graph/node_order.h"
#include "rewind/graph/tensor_proto.h"
#include "rewind/op/compiler_rows.h"
#include "rewind/op/table.h"

namespace rw {
namespace {

using format::FunctionDef;
using format::GraphDef;
using format::NodeDef;

// Calls of functions inside functions, as deep as a program written by people goes.
constexpr size_t kMaxCallDepth = 200;

// Builds a graph node by node and knows the values by their names in the file.
class BodyReader {
 public:
  BodyReader(Graph* graph, bool in_function, FunctionLibraryReader* library)
      : graph_(*graph), in_function_(in_function), library_(library) {}

  void add_argument(const std::string& name, DType dtype, Shape shape,
                    std::shared_ptr<const VariableSpec> variable) {
    const ValueId v = graph_.add_argument(dtype, std::move(shape), name);
    graph_.value(v).variable = std::move(variable);
    Made& made = made_[name];
    made.values = {v};
    made.is_argument = true;
  }

  void add(const NodeDef& def) {
    try {
      add_checked(def);
    } catch (const NotFoundError& e) {
      throw NotFoundError(at(def, e));
    } catch (const UnimplementedError& e) {
      throw UnimplementedError(at(def, e));
    } catch (const ResourceExhaustedError& e) {
      throw ResourceExhaustedError(at(def, e));
    } catch (const InvalidArgumentError& e) { throw InvalidArgumentError(at(def, e)); }
  }

  ValueId value(std::string_view text) const {
    const InputRef ref = parse_input(text);
    const auto it = made_.find(ref.node);
    if (ref.control || it == made_.end()) fail_graph_def("there is no value " + quote(text));
    const Made& made = it->second;
    size_t flat = size_t(ref.index);
    if (in_function_ && !made.is_argument) {
      size_t begin = 0, a = 0;
      while (a < made.counts.size() && made.op->outputs[a].name != ref.output)
        begin += size_t(made.counts[a++]);
      if (a == made.counts.size() || ref.index >= made.counts[a])
        fail_graph_def("node " + quote(ref.node) + " of op " + made.op->name + " has no output " +
                       quote(text));
      flat += begin;
    }
    if (flat >= made.values.size())
      fail_graph_def("node " + quote(ref.node) + " has " + std::to_string(made.values.size()) +
                     " outputs: got " + quote(text));
    return made.values[flat];
  }

  // All values of a node.
  const std::vector<ValueId>& values(const std::string& name) const { return made_.at(name).values; }

 private:
  struct Made {
    std::vector<ValueId> values;
    const Op* op = nullptr;
    std::vector<int64_t> counts;
    bool is_argument = false;
  };

  static std::string at(const NodeDef& def, const Error& e) {
    return std::string(e.what()) + " (node " + quote(def.name) + " of op " + def.op + ")";
  }

  void add_checked(const NodeDef& def) {
    std::vector<ValueId> inputs;
    std::vector<DType> types;
    for (const std::string& input : def.input) {
      if (parse_input(input).control) continue;
      inputs.push_back(value(input));
      types.push_back(graph_.value(inputs.back()).dtype);
    }
    const Op* op = op_table().find(def.op);
    AttrList attrs;
    if (!op && library_->has(def.op)) {
      // A function called by its name.
      const auto body = library_->get(def.op);
      op = &find_op(library_->is_stateful(def.op) ? "StatefulPartitionedCall" : "PartitionedCall");
      attrs = {{"Tout", body->output_types()}, {"f", BodyRef(body)}};
    } else if (!op) {
      fail_not_found("GraphDef", "there is no op " + def.op);
    } else {
      refuse_compiler_row(*op);
      attrs = read_attrs(*op, def);
    }
    const Attrs stored(attrs);
    const NodeId id = graph_.add_node(*op, stored, inputs);
    graph_.node(id).name = def.name;
    note_variable(*op, stored, id);
    const AttrList complete = complete_attrs(*op, stored, types);
    check_inferred(*op, def, complete);
    Made& made = made_[def.name];
    made.op = op;
    made.counts = output_counts(*op, complete);
    made.values.assign(graph_.node(id).outputs.begin(), graph_.node(id).outputs.end());
  }

  // Without what follows from the inputs and what is the default anyway.
  AttrList read_attrs(const Op& op, const NodeDef& def) const {
    AttrList attrs;
    const BodyOfName body_of_name = [&](const std::string& name) -> BodyRef { return library_->get(name); };
    for (const auto& [name, proto] : def.attr) {
      if (name.empty() || name[0] == '_') continue;  // notes of TensorFlow's own to itself
      const AttrDef* attr = op.find_attr(name);
      if (!attr) fail_graph_def("op " + op.name + " has no attribute " + name);
      if (attr->inferred) continue;
      AttrValue value = from_attr_proto(*attr, proto, body_of_name, library_->max_constant_bytes());
      if (!attr->default_value || !same_value(value, *attr->default_value))
        attrs.emplace_back(name, std::move(value));
    }
    return attrs;
  }

  // What the file says of types and numbers must be what the inputs are.
  void check_inferred(const Op& op, const NodeDef& def, const AttrList& complete) const {
    for (const auto& [name, value] : complete) {
      const AttrDef* attr = op.find_attr(name);
      const auto said = def.attr.find(name);
      if (!attr->inferred || said == def.attr.end()) continue;
      const AttrValue stated = from_attr_proto(*attr, said->second, {}, 0);
      if (!same_value(stated, value))
        fail_graph_def("attribute " + name + " is " + stated.to_string() + ", but the inputs say " +
                       value.to_string());
    }
  }

  void note_variable(const Op& op, const Attrs& attrs, NodeId id) {
    const Node& node = graph_.node(id);
    if (op.name == "VarHandleOp") {
      graph_.value(node.outputs[0]).variable = std::make_shared<VariableSpec>(
          VariableSpec{attr_as<DType>(op, attrs, "dtype"), attr_as<Shape>(op, attrs, "shape")});
    } else if (op.name == "Identity" && graph_.value(node.inputs[0]).variable) {
      graph_.value(node.outputs[0]).variable = graph_.value(node.inputs[0]).variable;
    }
  }

  Graph& graph_;
  bool in_function_;
  FunctionLibraryReader* library_;
  std::unordered_map<std::string_view, Made> made_;
};

template <class T>
const T* list_attr(const format::AttrMap& attrs, const char* name,
                   std::vector<T> format::ListValue::* member) {
  const auto it = attrs.find(name);
  if (it == attrs.end()) return nullptr;
  const auto* list = std::get_if<format::Box<format::ListValue>>(&it->second.value);
  return list && !((**list).*member).empty() ? &((**list).*member)[0] : nullptr;
}

std::shared_ptr<const VariableSpec> variable_of(format::DataType dtype,
                                                const format::TensorShapeProto* shape) {
  if (to_dtype(dtype) == DType::kInvalid) return nullptr;
  return std::make_shared<VariableSpec>(
      VariableSpec{to_dtype(dtype), shape ? from_shape_proto(*shape) : Shape::unknown_rank()});
}

void add_placeholder(const NodeDef& node, BodyReader* body) {
  const auto dtype_attr = node.attr.find("dtype");
  const auto* type =
      dtype_attr == node.attr.end() ? nullptr : std::get_if<format::DataType>(&dtype_attr->second.value);
  if (!type || to_dtype(*type) == DType::kInvalid)
    fail_graph_def("node " + quote(node.name) + " has no dtype that is known");
  Shape shape = Shape::unknown_rank();
  if (const auto it = node.attr.find("shape"); it != node.attr.end())
    if (const auto* s = std::get_if<format::TensorShapeProto>(&it->second.value))
      shape = from_shape_proto(*s);
  std::shared_ptr<const VariableSpec> variable;
  if (const auto* t = list_attr(node.attr, "_handle_dtypes", &format::ListValue::type))
    variable = variable_of(*t, list_attr(node.attr, "_handle_shapes", &format::ListValue::shape));
  body->add_argument(node.name, to_dtype(*type), std::move(shape), std::move(variable));
}

std::shared_ptr<const Graph> from_function_def(const FunctionDef& def, FunctionLibraryReader* library) {
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
    Shape shape = Shape::unknown_rank();
    if (const auto it = def.arg_attr.find(uint32_t(i)); it != def.arg_attr.end())
      if (const auto* s = list_attr(it->second.attr, "_output_shapes", &format::ListValue::shape))
        shape = from_shape_proto(*s);
    std::shared_ptr<const VariableSpec> variable;
    if (!arg.handle_data.empty())
      variable = variable_of(arg.handle_data[0].dtype,
                             arg.handle_data[0].shape ? &*arg.handle_data[0].shape : nullptr);
    body.add_argument(arg.name, to_dtype(arg.type), std::move(shape), std::move(variable));
  }
  std::vector<const NodeDef*> nodes;
  for (const NodeDef& node : def.node_def) {
    if (arguments.count(node.name))
      fail_graph_def("function " + signature.name + ": a node and an argument are called " +
                     quote(node.name));
    nodes.push_back(&node);
  }
  for (const size_t i : NodeOrder(nodes, arguments).find()) body.add(*nodes[i]);
  for (const format::OpDef::ArgDef& arg : signature.output_arg) {
    const auto it = def.ret.find(arg.name);
    if (it == def.ret.end())
      fail_graph_def("function " + signature.name + " says nothing of its result " + quote(arg.name));
    graph->outputs.push_back(body.value(it->second));
  }
  return graph;
}

// Values of nodes that no other node takes a value from, in the order of the file.
std::vector<std::string> default_outputs(const GraphDef& def) {
  std::unordered_set<std::string_view> taken;
  for (const NodeDef& node : def.node)
    for (const std::string& input : node.input)
      if (const InputRef ref = parse_input(input); !ref.control) taken.insert(ref.node);
  std::vector<std::string> names;
  for (const NodeDef& node : def.node)
    if (node.op != "Placeholder" && !taken.count(node.name)) names.push_back(node.name);
  return names;
}

}  // namespace

FunctionLibraryReader::FunctionLibraryReader(const format::FunctionDefLibrary& library,
                                             int64_t max_constant_bytes)
    : max_constant_bytes_(max_constant_bytes) {
  for (const FunctionDef& f : library.function) {
    if (!f.signature || f.signature->name.empty()) fail_graph_def("a function of the library has no name");
    if (!functions_.emplace(f.signature->name, &f).second)
      fail_graph_def("two functions are called " + quote(f.signature->name));
  }
}

bool FunctionLibraryReader::is_stateful(const std::string& name) const {
  const auto it = functions_.find(name);
  return it != functions_.end() && it->second->signature->is_stateful;
}

std::shared_ptr<const Graph> FunctionLibraryReader::get(const std::string& name) {
  if (const auto it = graphs_.find(name); it != graphs_.end()) return it->second;
  const auto it = functions_.find(name);
  if (it == functions_.end()) fail_not_found("GraphDef", "there is no function " + name + " in the library");
  if (std::find(in_work_.begin(), in_work_.end(), name) != in_work_.end())
    fail_unimplemented("GraphDef", "function " + name + " calls itself");
  if (in_work_.size() >= kMaxCallDepth)
    fail_unimplemented("GraphDef", "functions call each other deeper than " + std::to_string(kMaxCallDepth));
  in_work_.push_back(name);
  auto graph = from_function_def(*it->second, this);
  in_work_.pop_back();
  return graphs_[name] = std::move(graph);
}

std::shared_ptr<Graph> from_graph_def(const format::GraphDef& def, const GraphDefImport& options) {
  static const auto& kNone = *new format::FunctionDefLibrary;
  FunctionLibraryReader library(def.library ? *def.library : kNone, options.max_constant_bytes);
  auto graph = std::make_shared<Graph>();
  BodyReader body(graph.get(), false, &library);

  std::vector<const NodeDef*> nodes;
  std::unordered_map<std::string_view, const NodeDef*> placeholders;
  for (const NodeDef& node : def.node) {
    nodes.push_back(&node);
    if (node.op == "Placeholder") placeholders[node.name] = &node;
  }
  static const auto& kNoArguments = *new std::unordered_set<std::string>;
  NodeOrder node_order(nodes, kNoArguments);
  const std::vector<std::string> outputs =
      options.outputs.empty() && !options.prune ? default_outputs(def) : options.outputs;
  std::vector<bool> wanted(nodes.size(), true);
  if (options.prune) {
    std::vector<std::string_view> roots;
    for (const std::string& name : outputs) roots.push_back(parse_input(name).node);
    for (const std::string& name : options.targets) roots.push_back(parse_input(name).node);
    wanted = node_order.reach(roots);
  }

  std::unordered_set<std::string_view> added;
  const auto add_argument = [&](const NodeDef& node) {
    if (added.insert(node.name).second) add_placeholder(node, &body);
  };
  for (const std::string& name : options.inputs) {
    const auto it = placeholders.find(parse_input(name).node);
    if (it == placeholders.end()) fail_not_found("GraphDef", "there is no Placeholder " + quote(name));
    add_argument(*it->second);
  }
  for (size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i]->op == "Placeholder" && wanted[i]) add_argument(*nodes[i]);
  for (const size_t i : node_order.find())
    if (nodes[i]->op != "Placeholder" && wanted[i]) body.add(*nodes[i]);

  for (const std::string& name : outputs) {
    if (options.outputs.empty())
      for (const ValueId v : body.values(name)) graph->outputs.push_back(v);
    else graph->outputs.push_back(body.value(name));
  }
  return graph;
}

}  // namespace rw
