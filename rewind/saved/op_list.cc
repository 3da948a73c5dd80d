#include "rewind/saved/op_list.h"

#include <set>
#include <string>

#include "rewind/graph/attr_proto.h"
#include "rewind/op/table.h"

namespace rw::saved {
namespace {

format::AttrValue attr_list_value(format::ListValue list) {
  format::AttrValue value;
  value.value = format::Box<format::ListValue>(std::move(list));
  return value;
}

std::string type_name(const AttrDef& attr) {
  const char* names[] = {"int", "float", "bool", "string", "type", "shape", "tensor", "func"};
  const std::string name = names[size_t(attr.type)];
  return attr.list ? "list(" + name + ")" : name;
}

format::OpDef::ArgDef arg_def(const Op& op, const ArgDef& arg) {
  format::OpDef::ArgDef out;
  out.name = arg.name;
  if (arg.number_attr >= 0) out.number_attr = op.attrs[size_t(arg.number_attr)].name;
  if (arg.type_list_attr >= 0) out.type_list_attr = op.attrs[size_t(arg.type_list_attr)].name;
  else if (arg.type_attr >= 0) out.type_attr = op.attrs[size_t(arg.type_attr)].name;
  else out.type = format::DataType(arg.dtype);
  return out;
}

format::OpDef::AttrDef attr_def(const AttrDef& attr) {
  format::OpDef::AttrDef out;
  out.name = attr.name;
  out.type = type_name(attr);
  if (attr.default_value)
    out.default_value = to_attr_proto(*attr.default_value, [](const BodyRef&) { return std::string(); });
  if (attr.minimum) {
    out.has_minimum = true;
    out.minimum = *attr.minimum;
  }
  format::ListValue allowed;
  allowed.s = attr.allowed_strings;
  for (int type = 1; type < 64; ++type)
    if (attr.allowed_types & set_of(DType(type))) allowed.type.push_back(format::DataType(type));
  if (!allowed.s.empty() || !allowed.type.empty()) out.allowed_values = attr_list_value(std::move(allowed));
  return out;
}

}  // namespace

format::OpDef op_def(const Op& op) {
  format::OpDef out;
  out.name = op.name;
  for (const ArgDef& arg : op.inputs) out.input_arg.push_back(arg_def(op, arg));
  for (const ArgDef& arg : op.outputs) out.output_arg.push_back(arg_def(op, arg));
  for (const AttrDef& attr : op.attrs) out.attr.push_back(attr_def(attr));
  out.is_stateful = op.stateful;
  out.is_commutative = op.commutative;
  out.is_aggregate = op.aggregate;
  return out;
}

format::OpList used_ops(const format::GraphDef& graph) {
  std::set<std::string> names;
  for (const format::NodeDef& node : graph.node) names.insert(node.op);
  if (graph.library)
    for (const format::FunctionDef& function : graph.library->function)
      for (const format::NodeDef& node : function.node_def) names.insert(node.op);
  format::OpList list;
  for (const std::string& name : names)
    if (const Op* op = op_table().find(name)) list.op.push_back(op_def(*op));
  return list;
}

}  // namespace rw::saved
