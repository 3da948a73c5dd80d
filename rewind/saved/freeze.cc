#include "rewind/saved/freeze.h"

#include <optional>

#include "rewind/base/error.h"
#include "rewind/compiler/rewrite.h"
#include "rewind/format/atomic_file.h"
#include "rewind/format/message.h"
#include "rewind/function/function_origin.h"
#include "rewind/graph/bodies.h"
#include "rewind/graph/graph_def.h"
#include "rewind/module/trackable.h"
#include "rewind/op/table.h"
#include "rewind/runtime/constant.h"
#include "rewind/saved/exported_graph.h"
#include "rewind/tensor/tensor_impl.h"
#include "rewind/tensor/trace.h"

namespace rw::saved_model {
namespace {

constexpr const char* kFreeze = "saved_model::freeze";
constexpr const char* kSaveGraph = "saved_model::save_graph";

using GraphPtr = std::shared_ptr<const Graph>;

HostTensor host_scalar(int32_t value) { return {DType::kInt32, {}, std::make_shared<const int32_t>(value)}; }

// Where a handle of a variable stood in a graph, its value stands in the copy: a resource of `from` that is
// none in `to`. Functions that are called with handles take values.
class Freezer {
 public:
  // The value that an argument stands for; nothing: it stays what it is.
  using Arguments = std::vector<std::optional<VariableSpec>>;

  explicit Freezer(std::string name) : name_(std::move(name)) {}

  GraphPtr function(const GraphPtr& from, const Arguments& arguments) {
    GraphPtr& made = made_[{from.get(), text_of(arguments)}];
    if (made) return made;
    auto to = std::make_shared<Graph>();
    to->name = from->name;
    GraphCopy copy(*from, *to);
    for (size_t i = 0; i < from->arguments.size(); ++i) {
      const ValueId old = from->arguments[i];
      if (arguments[i])
        copy.set(old, to->add_argument(arguments[i]->dtype, arguments[i]->shape, from->argument_names[i]));
      else copy.argument(old, from->argument_names[i]);
    }
    nodes(*from, copy, *to);
    return made = to;
  }

  void nodes(const Graph& from, GraphCopy& copy, Graph& to) {
    for (size_t i = 0; i < from.nodes().size(); ++i) node(from, NodeId(i), copy, to);
    copy.outputs();
  }

 private:
  static std::string text_of(const Arguments& arguments) {
    std::string text;
    for (const auto& a : arguments)
      text += a ? std::string(name_of(a->dtype)) + a->shape.to_string() + ";" : ";";
    return text;
  }

  static bool is_value(const Graph& from, ValueId old, const GraphCopy& copy, const Graph& to) {
    return from.value(old).dtype == DType::kResource && to.value(copy[old]).dtype != DType::kResource;
  }

  void node(const Graph& from, NodeId id, GraphCopy& copy, Graph& to) {
    const Node& n = from.node(id);
    const std::string& op = n.op->name;
    // What TensorFlow's graphs have no word for gives its values.
    if (op == "_CustomGradient" || op == "_Recompute") {
      for (size_t k = 0; k < n.outputs.size(); ++k) copy.set(n.outputs[k], copy[n.inputs[k]]);
      return;
    }
    bool any = false;
    for (const ValueId v : n.inputs) any = any || is_value(from, v, copy, to);
    if (!any) {
      copy.node(id);
      return;
    }
    if (op == "ReadVariableOp" || op == "Identity") return copy.set(n.outputs[0], copy[n.inputs[0]]);
    if (op == "VarIsInitializedOp") return copy.set(n.outputs[0], to.add_constant(yes()));
    if (op == "VariableShape") {
      const auto type = attr_as<DType>(*n.op, n.attrs, "out_type");
      return replace(n, "Shape", {{"out_type", type}}, {copy[n.inputs[0]]}, copy, to);
    }
    if (op == "ResourceGather") {
      const auto batch = attr_as<int64_t>(*n.op, n.attrs, "batch_dims");
      const ValueId axis = to.add_constant(host_scalar(int32_t(batch)));
      return replace(n, "GatherV2", {{"batch_dims", batch}}, {copy[n.inputs[0]], copy[n.inputs[1]], axis},
                     copy, to);
    }
    if (op == "ResourceGatherNd")
      return replace(n, "GatherNd", {}, {copy[n.inputs[0]], copy[n.inputs[1]]}, copy, to);
    call(from, n, copy, to);
  }

  static HostTensor yes() { return {DType::kBool, {}, std::make_shared<const bool>(true)}; }

  static void replace(const Node& n, const char* op, const Attrs& attrs, const std::vector<ValueId>& inputs,
                      GraphCopy& copy, Graph& to) {
    const NodeId made = to.add_node(find_op(op), attrs, inputs);
    to.node(made).name = n.name;
    copy.set(n.outputs[0], to.node(made).outputs[0]);
  }

  // A call, a branch or a loop, whose functions take the values too.
  void call(const Graph& from, const Node& n, GraphCopy& copy, Graph& to) {
    const std::string& op = n.op->name;
    const bool branches = op == "If" || op == "StatelessIf" || op == "Case" || op == "StatelessCase";
    const bool loop = op == "While" || op == "StatelessWhile";
    if (!branches && !loop && op != "PartitionedCall" && op != "StatefulPartitionedCall")
      refuse(from, n, copy, to);
    Arguments arguments;
    std::vector<ValueId> inputs;
    for (const ValueId v : n.inputs) {
      inputs.push_back(copy[v]);
      const GraphValue& now = to.value(inputs.back());
      arguments.emplace_back();
      if (is_value(from, v, copy, to)) arguments.back() = VariableSpec{now.dtype, now.shape};
    }
    if (branches) arguments.erase(arguments.begin());
    GraphPtr last;
    Attrs attrs = with_bodies(n.attrs, [&](const BodyRef& body) {
      GraphPtr made = function(graph_ref(body), arguments);
      if (!loop || body == attr_as<BodyRef>(*n.op, n.attrs, "body")) last = made;
      return BodyRef(made);
    });
    std::vector<DType> dtypes;
    std::vector<Shape> shapes;
    for (size_t k = 0; k < n.outputs.size(); ++k) {
      const GraphValue& old = from.value(n.outputs[k]);
      const GraphValue& result = last->value(last->outputs[k]);
      const bool value = old.dtype == DType::kResource && result.dtype != DType::kResource;
      dtypes.push_back(value ? result.dtype : old.dtype);
      shapes.push_back(value ? result.shape : old.shape);
    }
    if (n.attrs.find("Tout")) attrs = attrs.with("Tout", dtypes);
    if (const AttrValue* given = n.attrs.find("output_shapes"))
      if (!given->get_if<std::vector<Shape>>()->empty()) attrs = attrs.with("output_shapes", shapes);
    const NodeId made = to.add_node(*n.op, attrs, inputs, dtypes, shapes);
    to.node(made).name = n.name;
    for (size_t k = 0; k < n.outputs.size(); ++k) {
      const ValueId now = to.node(made).outputs[k];
      copy.set(n.outputs[k], now);
      if (dtypes[k] == from.value(n.outputs[k]).dtype) {
        to.value(now).known = from.value(n.outputs[k]).known;
        to.value(now).variable = from.value(n.outputs[k]).variable;
      }
    }
  }

  [[noreturn]] void refuse(const Graph& from, const Node& n, const GraphCopy& copy, const Graph& to) const {
    std::string variable;
    for (const ValueId v : n.inputs) {
      if (!is_value(from, v, copy, to)) continue;
      const GraphValue& value = to.value(copy[v]);
      variable = value.node < 0 ? to.argument_names[size_t(value.index)] : to.name_of(value.node);
      break;
    }
    fail_unimplemented(kFreeze, name_ + ": a frozen graph has no variables to change, and " + n.op->name +
                                    " uses variable '" + variable + "' otherwise than by its value");
  }

  std::string name_;
  std::map<std::pair<const Graph*, std::string>, GraphPtr> made_;
};

HostTensor constant_of(const Tensor& value) { return as_constant(*value.impl()); }

format::GraphDef graph_def(const ConcreteFunction& frozen, const std::vector<std::string>& inputs,
                           const std::vector<std::string>& outputs, GraphDefNames* names) {
  saved::GraphExporter exporter;
  const GraphPtr graph = exporter.get(frozen.graph().ir_ref());
  exporter.check(kSaveGraph);
  auto& own = std::const_pointer_cast<Graph>(graph)->argument_names;  // the exporter's copy
  for (size_t i = 0; i < inputs.size(); ++i) own.at(i) = inputs[i];
  return to_graph_def(*graph, {.output_names = outputs}, names);
}

void write(const format::GraphDef& graph, const std::string& path) {
  const bool text = path.ends_with(".pbtxt") || path.ends_with(".txt");
  const std::string bytes = text ? format::to_text(graph) : format::encode(graph);
  format::AtomicFile file(path, kSaveGraph);
  file.write(bytes.data(), bytes.size());
  file.commit();
}

void check_size(const ConcreteFunction& function) {
  constexpr int64_t kMost = (int64_t{1} << 31) - 1;
  int64_t bytes = 0;
  for (const Variable& v : function.variables())
    if (v.shape().fully_known()) bytes += v.shape().num_elements() * int64_t(size_of(v.dtype()));
  if (bytes > kMost)
    fail_exhausted(kSaveGraph, origin_of(function) + ": its variables have " + std::to_string(bytes) +
                                   " bytes, and a GraphDef has at most 2 GiB; save a SavedModel");
}

}  // namespace

ConcreteFunction freeze(const ConcreteFunction& function) {
  if (current_trace()) fail_precondition(kFreeze, "functions are frozen outside of functions");
  const GraphPtr from = function.graph().ir_ref();
  const size_t arguments = function.inputs().size();
  auto to = std::make_shared<Graph>();
  to->name = from->name;
  GraphCopy copy(*from, *to);
  for (size_t i = 0; i < arguments; ++i) {
    if (from->value(from->arguments[i]).dtype == DType::kResource)
      fail_unimplemented(kFreeze, origin_of(function) + " takes a variable as an argument");
    copy.argument(from->arguments[i], from->argument_names[i]);
  }
  const std::vector<Tensor>& captures = function.captured_inputs();
  for (size_t i = 0; i < captures.size(); ++i) {
    const Variable variable = Variable::behind(captures[i]);
    if (!variable.defined() && is_host_only(captures[i].dtype()) && captures[i].dtype() != DType::kString)
      fail_unimplemented(kFreeze, origin_of(function) +
                                      " uses a table or another resource, which a frozen graph cannot hold");
    const ValueId value = to->add_constant(constant_of(variable.defined() ? variable.value() : captures[i]));
    if (variable.defined()) to->node(to->value(value).node).name = checkpoint_name(variable);
    copy.set(from->arguments[arguments + i], value);
  }
  Freezer(origin_of(function)).nodes(*from, copy, *to);
  for (size_t i = 0; i < from->outputs.size(); ++i)
    if (from->value(from->outputs[i]).dtype == DType::kResource)
      fail_unimplemented(kFreeze, origin_of(function) + " gives a variable as a result");
  return ConcreteFunction(to, arguments, {}, {}, 0, function.structure());
}

GraphTensors save_graph(const SignatureFunction& signature, const std::string& path) {
  const ConcreteFunction& function = *signature.concrete_function();
  check_size(function);
  std::vector<std::string> inputs, outputs;
  for (const auto& [name, spec] : signature.inputs()) inputs.push_back(name);
  for (const auto& [name, spec] : signature.outputs()) outputs.push_back(name);
  GraphDefNames names;
  write(graph_def(freeze(function), inputs, outputs, &names), path);
  GraphTensors tensors;
  for (size_t i = 0; i < inputs.size(); ++i) tensors.inputs[inputs[i]] = names.inputs[i];
  for (size_t i = 0; i < outputs.size(); ++i) tensors.outputs[outputs[i]] = names.outputs[i];
  return tensors;
}

GraphTensors save_graph(const ConcreteFunction& function, const std::string& path) {
  check_size(function);
  GraphDefNames names;
  write(graph_def(freeze(function), {}, {}, &names), path);
  GraphTensors tensors;
  const std::vector<TensorSpec> inputs = function.inputs();
  for (size_t i = 0; i < inputs.size(); ++i)
    tensors.inputs[inputs[i].name.empty() ? names.inputs[i] : inputs[i].name] = names.inputs[i];
  for (const std::string& output : names.outputs) tensors.outputs[output] = output;
  return tensors;
}

}  // namespace rw::saved_model
