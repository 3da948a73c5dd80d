// Graphs and functions as TensorFlow writes them:
//
//   GraphDef            1 node   2 library   3 version (old)   4 versions   (5 debug_info is skipped)
//   NodeDef             1 name   2 op   3 input   4 device   5 attr: map   6 experimental_debug_info
//                       7 experimental_type
//   VersionDef          1 producer   2 min_consumer   3 bad_consumers
//   FunctionDefLibrary  1 function   2 gradient: {1 function_name, 2 gradient_func}
//                       3 registered_gradients: {1 gradient_func, 2 registered_op_type}
//   FunctionDef         1 signature: OpDef   3 node_def   4 ret: map   5 attr: map   6 control_ret: map
//                       7 arg_attr: map of indices to {1 attr: map}   8 resource_arg_unique_id: map
//   OpDef               1 name   2 input_arg   3 output_arg   4 attr   5 summary   6 description   8
//   deprecation
//                       16 is_aggregate   17 is_stateful   18 is_commutative   19 allows_uninitialized_input
//                       20 control_output   21 is_distributed_communication
//   ArgDef              1 name   2 description   3 type   4 type_attr   5 number_attr   6 type_list_attr
//                       7 handle_data: {1 dtype, 2 shape}   16 is_ref   17 experimental_full_type
//   AttrDef             1 name   2 type   3 default_value   4 description   5 has_minimum   6 minimum
//                       7 allowed_values
//   FullTypeDef         1 type_id   2 args   one of: 3 s   4 i
//
// How inputs are written. In a graph: "node" is output 0, "node:1" output 1, "^node" waits for a node. In a
// function: "argument", "node:output_argument:0" (the index counts inside the argument), "^node".
#pragma once

#include "rewind/format/attr_value.h"

namespace rw::format {

enum class FullTypeId : int32_t { kUnset = 0 };
std::string_view name_of(FullTypeId type);
bool parse_enum(std::string_view name, FullTypeId* type);

struct FullTypeDef {
  FullTypeId type_id = FullTypeId::kUnset;
  std::vector<FullTypeDef> args;
  std::variant<std::monostate, std::string, int64_t> attr;
};

struct NodeDef {
  struct ExperimentalDebugInfo {
    std::vector<std::string> original_node_names, original_func_names;
  };
  std::string name, op;
  std::vector<std::string> input;
  std::string device;
  AttrMap attr;
  std::optional<ExperimentalDebugInfo> experimental_debug_info;
  std::optional<FullTypeDef> experimental_type;
};

struct VersionDef {
  int32_t producer = 0, min_consumer = 0;
  std::vector<int32_t> bad_consumers;
};

struct OpDeprecation {
  int32_t version = 0;
  std::string explanation;
};

struct OpDef {
  struct ArgDef {
    std::string name, description;
    DataType type = DataType::kInvalid;
    std::string type_attr, number_attr, type_list_attr;
    std::vector<ResourceHandleProto::DtypeAndShape> handle_data;
    bool is_ref = false;
    std::optional<FullTypeDef> experimental_full_type;
  };
  struct AttrDef {
    std::string name, type;
    std::optional<AttrValue> default_value;
    std::string description;
    bool has_minimum = false;
    int64_t minimum = 0;
    std::optional<AttrValue> allowed_values;
  };
  std::string name;
  std::vector<ArgDef> input_arg, output_arg;
  std::vector<AttrDef> attr;
  std::string summary, description;
  std::optional<OpDeprecation> deprecation;
  bool is_aggregate = false, is_stateful = false, is_commutative = false, allows_uninitialized_input = false;
  std::vector<std::string> control_output;
  bool is_distributed_communication = false;
};

struct FunctionDef {
  struct ArgAttrs {
    AttrMap attr;
  };
  std::optional<OpDef> signature;
  std::vector<NodeDef> node_def;
  std::map<std::string, std::string> ret;
  AttrMap attr;
  std::map<std::string, std::string> control_ret;
  std::map<uint32_t, ArgAttrs> arg_attr;
  std::map<uint32_t, uint32_t> resource_arg_unique_id;
};

struct FunctionDefLibrary {
  struct GradientDef {
    std::string function_name, gradient_func;
  };
  struct RegisteredGradient {
    std::string gradient_func, registered_op_type;
  };
  std::vector<FunctionDef> function;
  std::vector<GradientDef> gradient;
  std::vector<RegisteredGradient> registered_gradients;
};

struct GraphDef {
  std::vector<NodeDef> node;
  std::optional<FunctionDefLibrary> library;
  int32_t version = 0;
  std::optional<VersionDef> versions;
};

}  // namespace rw::format
