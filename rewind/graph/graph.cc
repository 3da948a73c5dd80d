#include "rewind/graph/graph.h"

#include <mutex>
#include <unordered_map>

#include "rewind/base/error.h"
#include "rewind/graph/evaluate_small.h"
#include "rewind/graph/shape_value.h"
#include "rewind/op/table.h"

namespace rw {
namespace {

View view_of(const GraphValue& v) {
  const int64_t size = v.shape.num_elements();
  return {const_cast<void*>(v.known->data.get()), &v.shape, v.dtype, size};
}

// Rows leave the shapes of variables open; the graph knows them.
void refine_by_variable(const Graph& g, const Op& op, std::span<const ValueId> inputs, Shape* out) {
  const Shape& shape = g.value(inputs[0]).variable->shape;
  if (op.name == "ReadVariableOp") {
    *out = shape;
  } else if (op.name == "VariableShape" && shape.has_rank()) {
    *out = Shape{shape.rank()};
  } else if (op.name == "ResourceGather" && shape.has_rank() && g.value(inputs[1]).shape.has_rank()) {
    *out = g.value(inputs[1]).shape;  // batch_dims is 0 wherever the library makes one
    for (int k = 1; k < shape.rank(); ++k) out->append(shape[k]);
  }
}

}  // namespace

const HostTensor& KnownTensor::none() {
  static const auto& none = *new HostTensor;
  return none;
}

const std::string& RareText::get() const {
  static const auto& empty = *new std::string;
  return text_ ? *text_ : empty;
}

ValueId Graph::add_argument(DType dtype, Shape shape, std::string arg_name) {
  GraphValue& v = values_.emplace_back();
  v.dtype = dtype;
  v.shape = std::move(shape);
  v.index = int32_t(arguments.size());
  arguments.push_back(ValueId(values_.size()) - 1);
  argument_names.push_back(std::move(arg_name));
  return arguments.back();
}

NodeId Graph::add_node(const Op& op, const Attrs& attrs, std::span<const ValueId> inputs) {
  const size_t n = inputs.size();
  DTypeVector types(n);
  SmallVector<View, 4> views(n);
  for (size_t i = 0; i < n; ++i) {
    const GraphValue& v = value(inputs[i]);
    types[i] = v.dtype;
    views[i] = view_of(v);
  }
  DTypeVector dtypes;
  check_call(op, types.data(), n, attrs, &dtypes);
  SmallVector<Shape, 2> shapes(dtypes.size());
  ShapeContext ctx(op, attrs, views.data(), n, shapes.data(), shapes.size());
  op.shape_rule(ctx);
  if (n > 0 && value(inputs[0]).variable) refine_by_variable(*this, op, inputs, shapes.data());
  if (shapes.size() == 1 && !shapes[0].fully_known()) refine_by_shape_value(*this, op, inputs, shapes.data());
  for (const Shape& shape : shapes) {
    int64_t count = 0;
    if (shape.fully_known() && !shape.checked_num_elements(&count))
      fail_invalid(op.tag,
                   "the result would have the shape " + shape.to_string() + ", too many elements to count");
  }
  // Before the node is added: the views point into the list of values.
  HostTensor known;
  if (dtypes.size() == 1 && !op.stateful)
    known = evaluate_small(op, attrs, {views.data(), n}, dtypes[0], shapes[0]);
  if (known.data) shapes[0] = known.shape;
  const NodeId id =
      add_node(op, attrs, inputs, {dtypes.data(), dtypes.size()}, {shapes.data(), shapes.size()});
  if (known.data) value(node(id).outputs[0]).known = std::move(known);
  return id;
}

NodeId Graph::add_node(const Op& op, const Attrs& attrs, std::span<const ValueId> inputs,
                       std::span<const DType> dtypes, std::span<const Shape> shapes) {
  const NodeId id = NodeId(nodes_.size());
  Node& node = nodes_.emplace_back();
  node.op = &op;
  node.attrs = attrs;
  node.inputs.reserve(inputs.size());
  for (const ValueId v : inputs) node.inputs.push_back(v);
  for (size_t i = 0; i < dtypes.size(); ++i) {
    GraphValue& v = values_.emplace_back();
    v.dtype = dtypes[i];
    v.shape = shapes[i];
    v.node = id;
    v.index = int32_t(i);
    node.outputs.push_back(ValueId(values_.size()) - 1);
  }
  return id;
}

ValueId Graph::add_output(NodeId id, DType dtype, Shape shape) {
  GraphValue& v = values_.emplace_back();
  v.dtype = dtype;
  v.shape = std::move(shape);
  v.node = id;
  v.index = int32_t(node(id).outputs.size());
  node(id).outputs.push_back(ValueId(values_.size()) - 1);
  return node(id).outputs.back();
}

void Graph::reserve(size_t nodes, size_t values) {
  nodes_.reserve(nodes_.size() + nodes);
  values_.reserve(values_.size() + values);
}

void Graph::reorder(std::span<const NodeId> order) {
  RW_CHECK(order.size() == nodes_.size());
  ChunkedList<Node> now;
  now.reserve(nodes_.size());
  for (const NodeId id : order) {
    for (const ValueId v : node(id).outputs) value(v).node = NodeId(now.size());
    now.push_back(std::move(node(id)));
  }
  nodes_ = std::move(now);
}

ValueId Graph::add_constant(const HostTensor& tensor) {
  static const Op& op = find_op("Const");
  const NodeId id =
      add_node(op, {{"value", tensor}, {"dtype", tensor.dtype}}, {}, {{tensor.dtype}}, {{tensor.shape}});
  value(node(id).outputs[0]).known = tensor;
  return node(id).outputs[0];
}

std::string Graph::name_of(NodeId id) const {
  const Node& n = node(id);
  return n.name.empty() ? n.op->name + "_" + std::to_string(id) : n.name;
}

std::string Graph::to_string() const {
  std::string text = name + "(";
  auto describe = [&](ValueId id) {
    const GraphValue& v = value(id);
    return "%" + std::to_string(id) + " " + std::string(rw::name_of(v.dtype)) + v.shape.to_string();
  };
  for (size_t i = 0; i < arguments.size(); ++i) text += (i ? ", " : "") + describe(arguments[i]);
  text += ")\n";
  for (const Node& n : nodes_) {
    text += "  ";
    for (size_t i = 0; i < n.outputs.size(); ++i) text += (i ? ", " : "") + describe(n.outputs[i]);
    text += (n.outputs.empty() ? "" : " = ") + n.op->name + "(";
    for (size_t i = 0; i < n.inputs.size(); ++i) text += (i ? ", %" : "%") + std::to_string(n.inputs[i]);
    text += ")";
    std::string attrs;
    for (const auto& [attr, v] : n.attrs) attrs += (attrs.empty() ? "" : ", ") + attr + "=" + v.to_string();
    if (!attrs.empty()) text += " {" + attrs + "}";
    text += "\n";
  }
  text += "  return (";
  for (size_t i = 0; i < outputs.size(); ++i) text += (i ? ", %" : "%") + std::to_string(outputs[i]);
  return text + ")\n";
}

namespace {
std::mutex& attachment_mutex() {
  static std::mutex mutex;
  return mutex;
}
}  // namespace

std::shared_ptr<const void> Graph::Attachment::get() const {
  const std::lock_guard lock(attachment_mutex());
  return value_;
}
std::shared_ptr<const void> Graph::Attachment::set(std::shared_ptr<const void> made) const {
  const std::lock_guard lock(attachment_mutex());
  if (!value_) value_ = std::move(made);
  return value_;
}

std::vector<DType> Graph::input_types() const {
  std::vector<DType> list;
  for (const ValueId v : arguments) list.push_back(value(v).dtype);
  return list;
}
std::vector<DType> Graph::output_types() const {
  std::vector<DType> list;
  for (const ValueId v : outputs) list.push_back(value(v).dtype);
  return list;
}
std::vector<Shape> Graph::output_shapes() const {
  std::vector<Shape> list;
  for (const ValueId v : outputs) list.push_back(value(v).shape);
  return list;
}

const Graph& graph_of(const FunctionBody& body) {
  const auto* graph = dynamic_cast<const Graph*>(&body);
  if (!graph) fail_internal(__FILE__, __LINE__, "a func attribute holds a graph");
  return *graph;
}
std::shared_ptr<const Graph> graph_ref(const BodyRef& body) { return {body, &graph_of(*body)}; }
std::shared_ptr<const Graph> graph_attr(const Node& node, std::string_view name) {
  return graph_ref(attr_as<BodyRef>(*node.op, node.attrs, name));
}

}  // namespace rw
