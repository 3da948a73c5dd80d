#include "rewind/saved/main_graph.h"

#include "rewind/graph/tensor_proto.h"

namespace rw::saved {

using format::AttrValue;
using format::NodeDef;

namespace {

AttrValue attr_list(format::ListValue list) {
  AttrValue a;
  a.value = format::Box<format::ListValue>(std::move(list));
  return a;
}

// As nodes are named: letters, digits and _ . - /
std::string node_name(std::string name) {
  for (char& c : name)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
          c == '-' || c == '/'))
      c = '_';
  const bool starts_well = !name.empty() && name[0] != '_' && name[0] != '-' && name[0] != '/';
  return starts_well ? name : "n" + name;
}

}  // namespace

AttrValue attr_of(DType v) {
  AttrValue a;
  a.value = format::DataType(v);
  return a;
}
AttrValue attr_of(const Shape& v) {
  AttrValue a;
  a.value = to_shape_proto(v);
  return a;
}
AttrValue attr_of(const std::vector<DType>& v) {
  format::ListValue list;
  for (const DType t : v) list.type.push_back(format::DataType(t));
  return attr_list(std::move(list));
}
AttrValue attr_of(std::string v) {
  AttrValue a;
  a.value = std::move(v);
  return a;
}
AttrValue attr_of_shapes(const std::vector<Shape>& v) {
  format::ListValue list;
  for (const Shape& s : v) list.shape.push_back(to_shape_proto(s));
  return attr_list(std::move(list));
}

NodeDef node_def(std::string name, std::string op, std::vector<std::string> inputs) {
  NodeDef def;
  def.name = std::move(name);
  def.op = std::move(op);
  def.input = std::move(inputs);
  return def;
}

NodeDef constant_node(std::string name, format::TensorProto value) {
  NodeDef def = node_def(std::move(name), "Const", {});
  def.attr["dtype"].value = value.dtype;
  def.attr["value"].value = format::Box<format::TensorProto>(std::move(value));
  return def;
}

format::TensorProto strings_proto(const std::vector<std::string>& strings, bool scalar) {
  format::TensorProto proto;
  proto.dtype = format::DataType(DType::kString);
  proto.tensor_shape.emplace();
  if (!scalar) proto.tensor_shape->dim.push_back({.size = int64_t(strings.size())});
  proto.string_val = strings;
  return proto;
}

std::string MainGraph::unique(const std::string& wanted) {
  const std::string base = node_name(wanted);
  std::string name = base;
  for (int i = 1; !taken_.insert(name).second; ++i) name = base + "_" + std::to_string(i);
  return name;
}

std::string MainGraph::constant(const std::string& wanted, format::TensorProto value) {
  return nodes_.emplace_back(constant_node(unique(wanted), std::move(value))).name;
}

std::string MainGraph::variable(const std::string& wanted, const GraphPort& port) {
  const std::string name = unique(wanted);
  NodeDef handle = node_def(name, "VarHandleOp", {});
  handle.attr["shared_name"] = attr_of(name);
  handle.attr["debug_name"] = attr_of(name + "/");
  handle.attr["container"] = attr_of(std::string());
  handle.attr["shape"] = attr_of(port.shape);
  handle.attr["dtype"] = attr_of(port.dtype);
  handle.attr["allowed_devices"] = attr_list({});
  handle.attr["_output_shapes"] = attr_of_shapes({Shape{}});
  NodeDef read = node_def(unique(name + "/Read/ReadVariableOp"), "ReadVariableOp", {name});
  read.attr["dtype"] = attr_of(port.dtype);
  read.attr["_output_shapes"] = attr_of_shapes({port.shape});
  nodes_.push_back(std::move(handle));
  nodes_.push_back(std::move(read));
  return name;
}

std::string MainGraph::placeholder(const std::string& wanted, const GraphPort& port) {
  NodeDef def = node_def(unique(wanted), "Placeholder", {});
  def.attr["dtype"] = attr_of(port.dtype);
  def.attr["shape"] = attr_of(port.shape);
  def.attr["_output_shapes"] = attr_of_shapes({port.shape});
  return nodes_.emplace_back(std::move(def)).name;
}

std::string MainGraph::call(const std::string& function, bool stateful,
                            const std::vector<std::string>& inputs, const std::vector<GraphPort>& in,
                            const std::vector<GraphPort>& out) {
  const char* op = stateful ? "StatefulPartitionedCall" : "PartitionedCall";
  NodeDef def = node_def(unique(op), op, inputs);
  std::vector<DType> in_types, out_types;
  std::vector<Shape> shapes;
  for (const GraphPort& port : in) in_types.push_back(port.dtype);
  for (const GraphPort& port : out) {
    out_types.push_back(port.dtype);
    shapes.push_back(port.shape);
  }
  def.attr["Tin"] = attr_of(in_types);
  def.attr["Tout"] = attr_of(out_types);
  def.attr["f"].value = format::Box<format::NameAttrList>(format::NameAttrList{.name = function});
  for (const char* empty : {"config", "config_proto", "executor_type"})
    def.attr[empty] = attr_of(std::string());
  def.attr["_output_shapes"] = attr_of_shapes(shapes);
  return nodes_.emplace_back(std::move(def)).name;
}

std::string MainGraph::no_op(const std::string& wanted) {
  return nodes_.emplace_back(node_def(unique(wanted), "NoOp", {})).name;
}

}  // namespace rw::saved
