// Graph to GraphDef and FunctionDef.
#include <mutex>
#include <set>

#include "rewind/base/error.h"
#include "rewind/graph/attr_proto.h"
#include "rewind/graph/control_edges.h"
#include "rewind/graph/graph_def.h"
#include "rewind/graph/tensor_proto.h"
#include "rewind/op/table.h"

namespace rw {
namespace {

using format::FunctionDef;
using format::GraphDef;
using format::NodeDef;

// The version of GraphDef's semantics that the op table follows: TensorFlow 2.21's.
constexpr int32_t kProducer = 2474;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Names of nodes: letters, digits and _ . - / > with a letter, digit or dot first.
std::string node_name(std::string name) {
  for (char& c : name)
    if (!is_letter(c) && !is_digit(c) && std::string_view("_.-/>").find(c) == std::string_view::npos) c = '_';
  if (name.empty() || (!is_letter(name[0]) && !is_digit(name[0]) && name[0] != '.')) name.insert(0, "n");
  return name;
}

// Names of a function's arguments: small letters, digits and _ with a letter first.
std::string argument_name(std::string name) {
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = char(c - 'A' + 'a');
    else if (!is_letter(c) && !is_digit(c)) c = '_';
  }
  if (name.empty() || !is_letter(name[0])) name.insert(0, "arg_");
  return name;
}

class UniqueNames {
 public:
  std::string add(const std::string& wanted) {
    std::string name = wanted;
    for (int i = 1; !taken_.insert(name).second; ++i) name = wanted + "_" + std::to_string(i);
    return name;
  }

 private:
  std::unordered_set<std::string> taken_;
};

bool lowers_in_line(std::string_view op) {
  for (const std::string_view name :
       {"If", "StatelessIf", "While", "StatelessWhile", "Case", "StatelessCase"})
    if (op == name) return true;
  return false;
}

format::AttrValue attr(DType v) {
  format::AttrValue a;
  a.value = format::DataType(v);
  return a;
}
format::AttrValue attr(const Shape& v) {
  format::AttrValue a;
  a.value = to_shape_proto(v);
  return a;
}
format::AttrValue shape_list(const Shape& v) {
  format::AttrValue a;
  a.value = format::Box<format::ListValue>(format::ListValue{.shape = {to_shape_proto(v)}});
  return a;
}

// What a GraphDef names by a token is kept as long as the process lives: nobody knows where the bytes go.
void keep_named(const Attrs& attrs) {
  if (!attrs.kept()) return;
  static std::mutex mutex;
  static auto* kept = new std::set<std::shared_ptr<const void>>;
  const std::lock_guard lock(mutex);
  kept->insert(attrs.kept());
}

// The nodes of a graph, and how each of its values is called, in the syntax of graphs or that of functions.
class BodyWriter {
 public:
  BodyWriter(const Graph& graph, bool in_function, FunctionLibraryWriter* library)
      : graph_(graph), in_function_(in_function), library_(library), refs_(graph.num_values()) {}

  std::vector<NodeDef> nodes;
  std::vector<std::string> argument_names;
  std::vector<std::string> must_run;  // names of the nodes with effects

  void write() {
    for (size_t i = 0; i < graph_.arguments.size(); ++i) {
      std::string name = i < graph_.argument_names.size() ? graph_.argument_names[i] : "";
      if (name.empty()) name = "arg_" + std::to_string(i);
      argument_names.push_back(names_.add(in_function_ ? argument_name(name) : node_name(name)));
      refs_[size_t(graph_.arguments[i])] = argument_names.back();
    }
    const auto edges = control_edges(graph_);
    std::vector<std::string> node_names;
    for (NodeId id = 0; id < NodeId(graph_.nodes().size()); ++id) {
      node_names.push_back(names_.add(node_name(graph_.name_of(id))));
      NodeDef& def = write_node(id, node_names.back());
      for (const NodeId before : edges[size_t(id)]) def.input.push_back("^" + node_names[size_t(before)]);
      if (effects_of(graph_.node(id)).must_run()) must_run.push_back(def.name);
    }
  }

  const std::string& ref(ValueId v) const { return refs_[size_t(v)]; }

  // A node behind all others that stands for a result; its name.
  std::string add_identity(ValueId v, const std::string& wanted) {
    NodeDef& def = nodes.emplace_back();
    def.name = names_.add(node_name(wanted));
    def.op = "Identity";
    def.input = {ref(v)};
    def.attr["T"] = attr(graph_.value(v).dtype);
    return def.name;
  }

 private:
  NodeDef& write_node(NodeId id, const std::string& name) {
    const Node& node = graph_.node(id);
    NodeDef def;
    def.name = name;
    def.op = node.op->name;
    std::vector<DType> types;
    for (const ValueId v : node.inputs) {
      def.input.push_back(ref(v));
      types.push_back(graph_.value(v).dtype);
    }
    const AttrList attrs = complete_attrs(*node.op, node.attrs, types);
    keep_named(node.attrs);
    const NameOfBody name_of_body = [&](const BodyRef& body) { return library_->add(graph_of(*body)); };
    for (const auto& [key, value] : attrs) def.attr[key] = to_attr_proto(value, name_of_body);
    // As TensorFlow's own writer asks for: its executor then runs branches and loops in line.
    if (lowers_in_line(node.op->name)) def.attr["_lower_using_switch_merge"].value = true;
    name_outputs(node, name, output_counts(*node.op, attrs));
    return nodes.emplace_back(std::move(def));
  }

  void name_outputs(const Node& node, const std::string& name, const std::vector<int64_t>& counts) {
    size_t flat = 0;
    for (size_t a = 0; a < counts.size(); ++a) {
      for (int64_t i = 0; i < counts[a]; ++i, ++flat) {
        std::string& ref = refs_[size_t(node.outputs[flat])];
        if (in_function_) ref = name + ":" + node.op->outputs[a].name + ":" + std::to_string(i);
        else ref = flat == 0 ? name : name + ":" + std::to_string(flat);
      }
    }
  }

  const Graph& graph_;
  bool in_function_;
  FunctionLibraryWriter* library_;
  std::vector<std::string> refs_;
  UniqueNames names_;
};

void describe_variable(const GraphValue& v, format::OpDef::ArgDef* arg) {
  if (!v.variable) return;
  arg->handle_data.push_back(
      {.dtype = format::DataType(v.variable->dtype), .shape = to_shape_proto(v.variable->shape)});
}

// What the runtime keeps on a resource's argument node.
void describe_variable(const GraphValue& v, NodeDef* node) {
  if (!v.variable) return;
  node->attr["_handle_dtypes"].value =
      format::Box<format::ListValue>(format::ListValue{.type = {format::DataType(v.variable->dtype)}});
  node->attr["_handle_shapes"] = shape_list(v.variable->shape);
}

FunctionDef to_function_def(const Graph& graph, const std::string& name, FunctionLibraryWriter* library) {
  BodyWriter body(graph, true, library);
  body.write();
  FunctionDef def;
  format::OpDef& signature = def.signature.emplace();
  signature.name = name;
  UniqueNames names;
  for (size_t i = 0; i < graph.arguments.size(); ++i) {
    const GraphValue& v = graph.value(graph.arguments[i]);
    format::OpDef::ArgDef& arg = signature.input_arg.emplace_back();
    arg.name = names.add(body.argument_names[i]);
    arg.type = format::DataType(v.dtype);
    describe_variable(v, &arg);
    def.arg_attr[uint32_t(i)].attr["_output_shapes"] = shape_list(v.shape);
  }
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const ValueId v = graph.outputs[i];
    format::OpDef::ArgDef& arg = signature.output_arg.emplace_back();
    arg.name = names.add("output_" + std::to_string(i));
    arg.type = format::DataType(graph.value(v).dtype);
    // An argument is no result by itself: graph rewriters want a node there.
    def.ret[arg.name] = graph.producer(v) ? body.ref(v) : body.add_identity(v, "Identity") + ":output:0";
  }
  for (const std::string& node : body.must_run) {
    signature.control_output.push_back(node);
    def.control_ret[node] = node;
  }
  signature.is_stateful = false;
  for (const Node& node : graph.nodes())
    if (effects_of(node).any()) signature.is_stateful = true;
  def.node_def = std::move(body.nodes);
  return def;
}

// Whether the outputs are Identity nodes already, in the order of the file, and nothing else is left over:
// such a graph came from a GraphDef, and goes back as it was.
bool outputs_stand_alone(const Graph& graph) {
  std::vector<int> uses(graph.num_values(), 0);
  for (const Node& node : graph.nodes())
    for (const ValueId v : node.inputs) ++uses[size_t(v)];
  NodeId last = -1;
  for (const ValueId v : graph.outputs) {
    const Node* p = graph.producer(v);
    if (!p || p->op->name != "Identity" || uses[size_t(v)] || graph.value(v).node <= last) return false;
    last = graph.value(v).node;
    uses[size_t(v)] = 1;
  }
  for (const Node& node : graph.nodes()) {
    int used = node.outputs.empty();
    for (const ValueId v : node.outputs) used += uses[size_t(v)];
    if (!used) return false;
  }
  return true;
}

}  // namespace

std::string FunctionLibraryWriter::new_name(const Graph& graph) {
  std::string base = graph.name.empty() ? "graph" : graph.name;
  for (char& c : base)
    if (!is_letter(c) && !is_digit(c) && c != '.') c = '_';
  std::string name = base;
  // A function's name must be no op's.
  for (int i = 1; taken_.count(name) || op_table().find(name); ++i) name = base + "_" + std::to_string(i);
  return name;
}

std::string FunctionLibraryWriter::add(const Graph& graph, const std::string& name) {
  if (const auto it = names_.find(&graph); it != names_.end() && (name.empty() || it->second == name))
    return it->second;
  if (!name.empty() && taken_.count(name))
    throw AlreadyExistsError("[GraphDef] a function " + name + " is in the library already");
  const std::string chosen = name.empty() ? new_name(graph) : name;
  taken_.insert(chosen);
  names_[&graph] = chosen;
  FunctionDef def = to_function_def(graph, chosen, this);
  library_.function.push_back(std::move(def));
  return chosen;
}

format::GraphDef to_graph_def(const Graph& graph, const GraphDefOptions& options, GraphDefNames* names) {
  FunctionLibraryWriter library;
  BodyWriter body(graph, false, &library);
  body.write();
  GraphDef def;
  GraphDefNames all;
  for (size_t i = 0; i < graph.arguments.size(); ++i) {
    const GraphValue& v = graph.value(graph.arguments[i]);
    NodeDef& node = def.node.emplace_back();
    node.name = body.argument_names[i];
    node.op = "Placeholder";
    node.attr["dtype"] = attr(v.dtype);
    node.attr["shape"] = attr(v.shape);
    describe_variable(v, &node);
    all.inputs.push_back(node.name + ":0");
  }
  if (!options.output_names.empty() && options.output_names.size() != graph.outputs.size())
    fail_invalid("GraphDef", "one name an output: the graph has " + std::to_string(graph.outputs.size()) +
                                 " outputs, got " + std::to_string(options.output_names.size()) + " names");
  const bool as_they_are = options.output_names.empty() && outputs_stand_alone(graph);
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    if (as_they_are) {
      all.outputs.push_back(body.ref(graph.outputs[i]) + ":0");
      continue;
    }
    const std::string wanted = options.output_names.empty() ? "Identity" : options.output_names[i];
    all.outputs.push_back(body.add_identity(graph.outputs[i], wanted) + ":0");
  }
  for (NodeDef& node : body.nodes) def.node.push_back(std::move(node));
  if (!library.empty()) def.library = library.take();
  def.versions.emplace().producer = kProducer;
  if (names) *names = std::move(all);
  return def;
}

}  // namespace rw
