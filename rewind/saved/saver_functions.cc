// How sessions (TensorFlow 1's loader, TensorFlow's C++ loader and its server) restore and save a model's
// variables: two functions around RestoreV2 and SaveV2.
#include "rewind/graph/tensor_proto.h"
#include "rewind/saved/main_graph.h"

namespace rw::saved {
namespace {

using format::FunctionDef;
using format::NodeDef;

constexpr const char* kObjectGraph = "_CHECKPOINTABLE_OBJECT_GRAPH";
constexpr const char* kCpu = "/device:CPU:0";

format::OpDef::ArgDef argument(std::string name, DType type) {
  format::OpDef::ArgDef arg;
  arg.name = std::move(name);
  arg.type = format::DataType(type);
  return arg;
}

// A function from a file's prefix and the variables' handles to the prefix.
FunctionDef function_of(const std::string& name, const std::vector<SavedValue>& values) {
  FunctionDef def;
  format::OpDef& signature = def.signature.emplace();
  signature.name = name;
  signature.is_stateful = true;
  signature.input_arg.push_back(argument("file_prefix", DType::kString));
  def.arg_attr[0].attr["_output_shapes"] = attr_of_shapes({Shape{}});
  for (size_t i = 0; i < values.size(); ++i) {
    auto arg = argument("variable_" + std::to_string(i), DType::kResource);
    arg.handle_data.push_back(
        {.dtype = format::DataType(values[i].port.dtype), .shape = to_shape_proto(values[i].port.shape)});
    signature.input_arg.push_back(std::move(arg));
    def.arg_attr[uint32_t(i + 1)].attr["_output_shapes"] = attr_of_shapes({Shape{}});
  }
  signature.output_arg.push_back(argument("prefix", DType::kString));
  return def;
}

void effect(FunctionDef* def, const std::string& node) {
  def->signature->control_output.push_back(node);
  def->control_ret[node] = node;
}

// The prefix, once everything else has happened.
void give_prefix(FunctionDef* def, const std::vector<std::string>& after) {
  NodeDef node = node_def("Identity", "Identity", {"file_prefix"});
  for (const std::string& name : after) node.input.push_back("^" + name);
  node.attr["T"] = attr_of(DType::kString);
  node.device = kCpu;
  def->node_def.push_back(std::move(node));
  def->ret["prefix"] = "Identity:output:0";
}

struct Names {
  std::vector<std::string> keys, slices;
  std::vector<DType> types;
};
Names names_of(const std::vector<SavedValue>& values) {
  Names names;
  for (const SavedValue& v : values) {
    names.keys.push_back(v.key);
    names.types.push_back(v.port.dtype);
  }
  names.keys.push_back(kObjectGraph);
  names.types.push_back(DType::kString);
  names.slices.resize(names.keys.size());
  return names;
}

void add_on_cpu(FunctionDef* def, NodeDef node) {
  node.device = kCpu;
  def->node_def.push_back(std::move(node));
}

FunctionDef save_function(const std::string& name, const std::vector<SavedValue>& values) {
  FunctionDef def = function_of(name, values);
  const Names names = names_of(values);
  const std::string graph = "object_graph";
  def.signature->input_arg.push_back(argument(graph, DType::kString));
  def.arg_attr[uint32_t(values.size() + 1)].attr["_output_shapes"] = attr_of_shapes({Shape{}});

  add_on_cpu(&def, constant_node("part", strings_proto({"_temp/part"}, true)));
  NodeDef join = node_def("StringJoin", "StringJoin", {"file_prefix", "part:output:0"});
  join.attr["N"].value = int64_t{2};
  join.attr["separator"] = attr_of(std::string());
  add_on_cpu(&def, std::move(join));
  for (const auto& [constant, number] : {std::pair("shard", 0), std::pair("num_shards", 1)}) {
    format::TensorProto proto;
    proto.dtype = format::DataType(DType::kInt32);
    proto.tensor_shape.emplace();
    proto.int_val = {number};
    add_on_cpu(&def, constant_node(constant, std::move(proto)));
  }
  add_on_cpu(&def, node_def("ShardedFilename", "ShardedFilename",
                            {"StringJoin:output:0", "shard:output:0", "num_shards:output:0"}));
  add_on_cpu(&def, constant_node("tensor_names", strings_proto(names.keys, false)));
  add_on_cpu(&def, constant_node("shape_and_slices", strings_proto(names.slices, false)));
  NodeDef save =
      node_def("SaveV2", "SaveV2",
               {"ShardedFilename:filename:0", "tensor_names:output:0", "shape_and_slices:output:0"});
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string suffix = "_" + std::to_string(i);
    NodeDef read = node_def("Read" + suffix, "ReadVariableOp", {"variable" + suffix});
    read.attr["dtype"] = attr_of(values[i].port.dtype);
    def.node_def.push_back(read);
    save.input.push_back("Read" + suffix + ":value:0");
  }
  save.input.push_back(graph);
  save.attr["dtypes"] = attr_of(names.types);
  add_on_cpu(&def, std::move(save));
  NodeDef pack = node_def("prefixes", "Pack", {"ShardedFilename:filename:0", "^SaveV2"});
  pack.attr["N"].value = int64_t{1};
  pack.attr["T"] = attr_of(DType::kString);
  pack.attr["axis"].value = int64_t{0};
  add_on_cpu(&def, std::move(pack));
  NodeDef merge = node_def("MergeV2Checkpoints", "MergeV2Checkpoints", {"prefixes:output:0", "file_prefix"});
  merge.attr["delete_old_dirs"].value = true;
  merge.attr["allow_missing_files"].value = false;
  add_on_cpu(&def, std::move(merge));
  give_prefix(&def, {"MergeV2Checkpoints"});
  effect(&def, "MergeV2Checkpoints");
  effect(&def, "SaveV2");
  return def;
}

FunctionDef restore_function(const std::string& name, const std::vector<SavedValue>& values) {
  FunctionDef def = function_of(name, values);
  const Names names = names_of(values);
  add_on_cpu(&def, constant_node("tensor_names", strings_proto(names.keys, false)));
  add_on_cpu(&def, constant_node("shape_and_slices", strings_proto(names.slices, false)));
  NodeDef restore = node_def("RestoreV2", "RestoreV2",
                             {"file_prefix", "tensor_names:output:0", "shape_and_slices:output:0"});
  restore.attr["dtypes"] = attr_of(names.types);
  add_on_cpu(&def, std::move(restore));
  std::vector<std::string> assigned;
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string suffix = "_" + std::to_string(i);
    assigned.push_back("Assign" + suffix);
    NodeDef assign = node_def(assigned.back(), "AssignVariableOp",
                              {"variable" + suffix, "RestoreV2:tensors:" + std::to_string(i)});
    assign.attr["dtype"] = attr_of(values[i].port.dtype);
    assign.attr["validate_shape"].value = false;
    def.node_def.push_back(std::move(assign));
  }
  give_prefix(&def, assigned);
  for (const std::string& node : assigned) effect(&def, node);
  return def;
}

}  // namespace

format::SaverDef add_saver(const std::vector<SavedValue>& values, const std::string& object_graph,
                           MainGraph* graph, format::FunctionDefLibrary* library) {
  constexpr const char* kSave = "__inference__traced_save_0";
  constexpr const char* kRestore = "__inference__traced_restore_0";
  library->function.push_back(save_function(kSave, values));
  library->function.push_back(restore_function(kRestore, values));
  const GraphPort text{DType::kString, Shape{}};
  std::vector<std::string> inputs{graph->placeholder("saver_filename", text)};
  std::vector<GraphPort> in{text};
  for (const SavedValue& v : values) {
    inputs.push_back(v.node);
    in.push_back({DType::kResource, Shape{}});
  }
  format::SaverDef saver;
  saver.filename_tensor_name = inputs[0] + ":0";
  saver.version = format::SaverDef::Version::kV2;
  saver.restore_op_name = graph->call(kRestore, true, inputs, in, {text});
  inputs.push_back(graph->constant("object_graph", strings_proto({object_graph}, true)));
  in.push_back(text);
  saver.save_tensor_name = graph->call(kSave, true, inputs, in, {text}) + ":0";
  return saver;
}

}  // namespace rw::saved
