#include "rewind/saved/exported_graph.h"

#include <algorithm>
#include <mutex>

#include "rewind/base/error.h"
#include "rewind/compiler/rewrite.h"
#include "rewind/graph/bodies.h"
#include "rewind/op/library_rows.h"
#include "rewind/op/table.h"
#include "rewind/saved/decomposition.h"
#include "rewind/tensor/trace.h"

namespace rw::saved_model {
namespace {
struct Decompositions {
  std::mutex mutex;
  std::map<std::string, Decomposition> by_op;
};
Decompositions& decompositions() {
  static auto* const all = new Decompositions;
  return *all;
}
}  // namespace

void register_decomposition(const std::string& op, Decomposition decomposition) {
  Decompositions& all = decompositions();
  const std::lock_guard lock(all.mutex);
  all.by_op[op] = std::move(decomposition);
}
Decomposition find_decomposition(const std::string& op) {
  Decompositions& all = decompositions();
  const std::lock_guard lock(all.mutex);
  const auto it = all.by_op.find(op);
  return it == all.by_op.end() ? nullptr : it->second;
}
}  // namespace rw::saved_model

namespace rw::saved {
namespace {

// Without what an earlier file has put around it, in the letters that functions are named in.
std::string plain_name(std::string name) {
  constexpr std::string_view kPrefix = "__inference_";
  if (name.starts_with(kPrefix)) name.erase(0, kPrefix.size());
  for (char& c : name)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.')) c = '_';
  return name;
}

HostTensor host_scalar(int32_t value) { return {DType::kInt32, {}, std::make_shared<const int32_t>(value)}; }

bool is_counter(const GraphValue& v) { return v.dtype == DType::kInt32 && v.shape == Shape{}; }

// A loop that TensorFlow made: its first value grows by one, its second stays.
bool counts_already(const Node& loop) {
  const Graph& body = *graph_attr(loop, "body");
  if (body.arguments.size() < 2) return false;
  for (const size_t i : {0, 1})
    if (!is_counter(body.value(body.arguments[i])) || !is_counter(body.value(body.outputs[i]))) return false;
  const auto source = [&](ValueId v) {
    while (const Node* n = body.producer(v)) {
      if (n->op->name != "Identity") break;
      v = n->inputs[0];
    }
    return v;
  };
  const Node* add = body.producer(source(body.outputs[0]));
  return source(body.outputs[1]) == body.arguments[1] && add &&
         (add->op->name == "AddV2" || add->op->name == "Add") &&
         (source(add->inputs[0]) == body.arguments[0] || source(add->inputs[1]) == body.arguments[0]);
}

}  // namespace

GraphPtr GraphExporter::get(const GraphPtr& graph, const std::string& name) {
  if (const auto it = made_.find(graph.get()); it != made_.end()) return it->second;
  originals_.push_back(graph);
  std::vector<size_t> own;  // gradients of nodes of this graph
  auto exported = std::make_shared<Graph>(
      rewrite(*graph, [&](NodeId id, GraphCopy& copy, Graph& to) { visit(*graph, id, copy, to, &own); }));
  exported->name =
      "__inference_" + plain_name(name.empty() ? graph->name : name) + "_" + std::to_string(++count_);
  for (const size_t g : own) gradients_[g].graph = exported;
  made_[graph.get()] = exported;
  return exported;
}

void GraphExporter::visit(const Graph& from, NodeId id, GraphCopy& copy, Graph& to,
                          std::vector<size_t>* gradients) {
  const Node& n = from.node(id);
  const std::string& op = n.op->name;
  if (op == "_CustomGradient") {
    add_gradient(from, n, copy, to);
    gradients->push_back(gradients_.size() - 1);
    return;
  }
  if (op == "_Recompute" || op == "_Given") {
    for (size_t k = 0; k < n.outputs.size(); ++k) copy.set(n.outputs[k], copy[n.inputs[k]]);
    return;
  }
  if ((op == "While" || op == "StatelessWhile") && !counts_already(n)) return add_loop(from, n, copy, to);
  if (!is_library_row(*n.op)) {
    if (saved_model::find_decomposition(op)) return decompose(n, copy, to);
    refuse(from, n,
           "TensorFlow has no such op; rw::saved_model::register_decomposition says it in ops that it has");
  } else if (op[0] == '_') {
    refuse(from, n, "TensorFlow has no such op");
  } else if (op == "EagerPyFunc") {
    refuse(from, n, "rw::host_function calls C++ code, which a file cannot hold");
  }
  const NodeId made =
      copy.node(id, with_bodies(n.attrs, [&](const BodyRef& body) { return BodyRef(get(graph_ref(body))); }));
  // From an earlier file: the names say which gradient is whose.
  if (std::string(n.name).starts_with("CustomGradient-")) to.node(made).name = std::string();
}

void GraphExporter::refuse(const Graph& graph, const Node& node, const std::string& why) {
  std::string text = node.op->name + " in function " + graph.name + ": " + why;
  if (std::find(problems_.begin(), problems_.end(), text) == problems_.end())
    problems_.push_back(std::move(text));
}

void GraphExporter::check(const char* tag) const {
  if (problems_.empty()) return;
  std::string text;
  for (const std::string& p : problems_) text += (text.empty() ? "" : "; ") + p;
  throw UnimplementedError(std::string("[") + tag + "] cannot be saved: " + text);
}

void GraphExporter::decompose(const Node& node, GraphCopy& copy, Graph& to) {
  const auto trace = Ref<Trace>::adopt(new Trace(node.op->name));
  std::vector<Tensor> results;
  {
    const TraceScope scope(*trace);
    std::vector<Tensor> inputs;
    for (const ValueId v : node.inputs) {
      const GraphValue& value = to.value(copy[v]);
      inputs.push_back(trace->add_argument(value.dtype, value.shape));
    }
    results = saved_model::find_decomposition(node.op->name)(inputs, node.attrs);
    trace->finish(results);
  }
  if (results.size() != node.outputs.size())
    fail_invalid("register_decomposition", "the decomposition of " + node.op->name + " must give " +
                                               std::to_string(node.outputs.size()) + " results: it gave " +
                                               std::to_string(results.size()));
  if (!trace->captures().empty())
    fail_invalid("register_decomposition", "the decomposition of " + node.op->name +
                                               " may use nothing but its inputs and small constants");
  const GraphPtr body = get(trace->graph_ref());
  GraphCopy inner(*body, to);
  for (size_t i = 0; i < node.inputs.size(); ++i) inner.set(body->arguments[i], copy[node.inputs[i]]);
  for (size_t i = 0; i < body->nodes().size(); ++i) inner.node(NodeId(i));
  for (size_t i = 0; i < node.outputs.size(); ++i) copy.set(node.outputs[i], inner[body->outputs[i]]);
}

void GraphExporter::relocate(const GraphPtr& from, const GraphPtr& to) {
  for (ExportedGradient& g : gradients_)
    if (g.graph == from) g.graph = to;
}

// A loop's condition or body behind the two values that TensorFlow's loops begin with.
GraphPtr GraphExporter::counting(const GraphPtr& function, bool is_body) {
  GraphPtr& made = counting_[{function.get(), is_body}];
  if (made) return made;
  auto graph = std::make_shared<Graph>();
  graph->name = "__inference_while_" + std::string(is_body ? "body_" : "cond_") + std::to_string(++count_);
  const ValueId counter = graph->add_argument(DType::kInt32, Shape{}, "loop_counter");
  const ValueId limit = graph->add_argument(DType::kInt32, Shape{}, "maximum_iterations");
  GraphCopy copy(*function, *graph);
  copy.arguments();
  for (size_t i = 0; i < function->nodes().size(); ++i) copy.node(NodeId(i));
  if (is_body) {
    const std::vector<ValueId> terms{counter, graph->add_constant(host_scalar(1))};
    graph->outputs = {graph->node(graph->add_node(find_op("AddV2"), {}, terms)).outputs[0], limit};
  }
  copy.outputs();
  relocate(function, graph);
  made = graph;
  return made;
}

void GraphExporter::add_loop(const Graph& from, const Node& node, GraphCopy& copy, Graph& to) {
  std::vector<ValueId> inputs{to.add_constant(host_scalar(0)), to.add_constant(host_scalar(-1))};
  std::vector<DType> types(2, DType::kInt32);
  std::vector<Shape> shapes(2);
  for (const ValueId v : node.inputs) inputs.push_back(copy[v]);
  for (const ValueId v : node.outputs) {
    types.push_back(from.value(v).dtype);
    shapes.push_back(from.value(v).shape);
  }
  Attrs attrs = node.attrs;
  for (const char* name : {"cond", "body"})
    attrs = attrs.with(name, BodyRef(counting(get(graph_attr(node, name)), name[0] == 'b')));
  if (const AttrValue* given = attrs.find("output_shapes"))
    if (auto list = *given->get_if<std::vector<Shape>>(); !list.empty()) {
      list.insert(list.begin(), 2, Shape{});
      attrs = attrs.with("output_shapes", list);
    }
  const NodeId loop = to.add_node(*node.op, attrs, inputs, types, shapes);
  to.node(loop).name = node.name;
  for (size_t k = 0; k < node.outputs.size(); ++k) copy.set(node.outputs[k], to.node(loop).outputs[k + 2]);
}

void GraphExporter::add_gradient(const Graph& from, const Node& node, GraphCopy& copy, Graph& to) {
  ExportedGradient made;
  made.op_type = "CustomGradient-" + std::to_string(++count_);
  made.num_results = node.outputs.size();
  made.num_inputs = size_t(attr_as<int64_t>(*node.op, node.attrs, "num_inputs"));
  made.given = attr_as<std::vector<int64_t>>(*node.op, node.attrs, "given");
  const size_t ports = made.num_results + made.num_inputs;

  const auto identity = [&](const char* op, std::span<const ValueId> values, const std::string& name) {
    std::vector<DType> dtypes;
    std::vector<Shape> shapes;
    for (const ValueId v : values) {
      dtypes.push_back(to.value(v).dtype);
      shapes.push_back(to.value(v).shape);
    }
    const NodeId id = to.add_node(find_op(op), {}, values, dtypes, shapes);
    to.node(id).name = name;
    return id;
  };
  std::vector<ValueId> values;
  for (size_t k = 0; k < ports; ++k) {
    ValueId v = copy[node.inputs[k]];
    if (const auto variable = to.value(v).variable) {  // what TensorFlow passes of a variable
      const std::vector<DType> dtype{variable->dtype};
      const std::vector<Shape> shape{variable->shape};
      v = to.node(to.add_node(find_op("ReadVariableOp"), {{"dtype", dtype[0]}}, {&v, 1}, dtype, shape))
              .outputs[0];
    }
    values.push_back(v);
  }
  const NodeId id = identity("IdentityN", values, made.op_type);
  for (size_t k = 0; k < made.num_results; ++k) copy.set(node.outputs[k], to.node(id).outputs[k]);
  for (size_t k = ports; k < node.inputs.size(); ++k) {
    const ValueId v = copy[node.inputs[k]];
    made.captured_arguments.emplace_back();
    if (to.value(v).node < 0) made.captured_arguments.back() = size_t(to.value(v).index);
    else identity("Identity", {&v, 1}, made.op_type + "_capture_" + std::to_string(k - ports));
  }

  const GraphPtr backward = get(graph_ref(attr_as<BodyRef>(*node.op, node.attrs, "grad")));
  auto function = std::make_shared<Graph>();
  function->name = "__inference_internal_grad_fn_" + std::to_string(++count_);
  GraphCopy inner(*backward, *function);
  for (size_t k = 0; k < made.num_results; ++k) inner.argument(backward->arguments[k]);
  for (size_t k = made.num_results; k < ports; ++k) {  // of the inputs, which nobody reads
    const GraphValue& v = from.value(node.inputs[k]);
    if (v.variable) function->add_argument(v.variable->dtype, v.variable->shape);
    else function->add_argument(v.dtype, v.shape);
  }
  for (size_t k = made.num_results; k < backward->arguments.size(); ++k)
    inner.argument(backward->arguments[k]);
  for (size_t i = 0; i < backward->nodes().size(); ++i) inner.node(NodeId(i));
  inner.outputs();
  relocate(backward, function);
  made.function = function;
  gradients_.push_back(std::move(made));
}

}  // namespace rw::saved
