// SavedModel folders as TensorFlow writes them: saved_model.pb is a SavedModel, fingerprint.pb a
// FingerprintDef, variables/variables.* a tensor bundle (tensor_bundle.h) with the graph of object_graph.h,
// assets/ the files that the graph reads.
//
//   SavedModel        1 saved_model_schema_version   2 meta_graphs
//   MetaGraphDef      1 meta_info_def   2 graph_def   3 saver_def   4 collection_def: map   5 signature_def:
//   map
//                     6 asset_file_def   7 object_graph_def
//   MetaInfoDef       1 meta_graph_version   2 stripped_op_list: {1 op}   3 any_info   4 tags
//                     5 tensorflow_version   6 tensorflow_git_version   7 stripped_default_attrs
//                     8 function_aliases: map
//   CollectionDef     one of: 1 node_list   2 bytes_list   3 int64_list   4 float_list   5 any_list
//   SignatureDef      1 inputs: map   2 outputs: map   3 method_name   4 defaults: map of TensorProto
//   TensorInfo        one of: 1 name   4 coo_sparse   5 composite_tensor;   2 dtype   3 tensor_shape
//   AssetFileDef      1 tensor_info   2 filename, below assets/
//   SaverDef          1 filename_tensor_name   2 save_tensor_name   3 restore_op_name   4 max_to_keep   5
//   sharded
//                     6 keep_checkpoint_every_n_hours   7 version
//   SavedObjectGraph  1 nodes: SavedObject; node 0 is the root   2 concrete_functions: map
//   SavedObject       1 children   3 slot_variables (both as in object_graph.h)   one of: 4 user_object   5
//   asset
//                     6 function   7 variable   8 bare_concrete_function   9 constant   10 resource
//                     12 captured_tensor;   11 saveable_objects: map of {2 save_function, 3 restore_function}
//                     13 registered_name   14 serialized_user_proto   15 dependencies   16 registered_saver
//   SavedFunction     1 concrete_functions   2 function_spec
//   FunctionSpec      1 fullargspec   2 is_method   5 input_signature   6 jit_compile
//   SavedConcreteFunction      2 bound_inputs (nodes of captured values)   3 canonicalized_input_signature
//                              4 output_signature
//   SavedBareConcreteFunction  1 concrete_function_name   2 argument_keywords   3
//   allowed_positional_arguments
//                              4 function_spec
//   FingerprintDef    1 saved_model_checksum   2 graph_def_program_hash   3 signature_def_hash
//                     4 saved_object_graph_hash   5 checkpoint_hash   6 version   7 uuid
#pragma once

#include "rewind/format/graph_def.h"
#include "rewind/format/object_graph.h"
#include "rewind/format/structured_value.h"

namespace rw::format {

struct Any {
  std::string type_url, value;
};

struct SaverDef {
  enum class Version : int32_t { kLegacy = 0, kV1 = 1, kV2 = 2 };
  std::string filename_tensor_name, save_tensor_name, restore_op_name;
  int32_t max_to_keep = 0;
  bool sharded = false;
  float keep_checkpoint_every_n_hours = 0;
  Version version = Version::kLegacy;
};
std::string_view name_of(SaverDef::Version value);
bool parse_enum(std::string_view name, SaverDef::Version* value);

struct CollectionDef {
  struct NodeList {
    std::vector<std::string> value;
  };
  struct BytesList {
    std::vector<std::string> value;
  };
  struct Int64List {
    std::vector<int64_t> value;
  };
  struct FloatList {
    std::vector<float> value;
  };
  struct AnyList {
    std::vector<Any> value;
  };
  std::variant<std::monostate, NodeList, BytesList, Int64List, FloatList, AnyList> kind;
};

struct TensorInfo {
  struct CooSparse {
    std::string values_tensor_name, indices_tensor_name, dense_shape_tensor_name;
  };
  struct CompositeTensor {
    std::optional<TypeSpecProto> type_spec;
    std::vector<TensorInfo> components;
  };
  std::variant<std::monostate, std::string, CooSparse, CompositeTensor> encoding;
  DataType dtype = DataType::kInvalid;
  std::optional<TensorShapeProto> tensor_shape;
};

struct SignatureDef {
  std::map<std::string, TensorInfo> inputs, outputs;
  std::string method_name;
  std::map<std::string, TensorProto> defaults;
};

struct AssetFileDef {
  std::optional<TensorInfo> tensor_info;
  std::string filename;
};

struct FunctionSpec {
  enum class JitCompile : int32_t { kDefault = 0, kOn = 1, kOff = 2 };
  // A named tuple FullArgSpec: args, varargs, varkw, defaults, kwonlyargs, kwonlydefaults, annotations.
  std::optional<StructuredValue> fullargspec;
  bool is_method = false;
  std::optional<StructuredValue> input_signature;
  JitCompile jit_compile = JitCompile::kDefault;
};
std::string_view name_of(FunctionSpec::JitCompile value);
bool parse_enum(std::string_view name, FunctionSpec::JitCompile* value);

enum class VariableSynchronization : int32_t { kAuto = 0, kNone = 1, kOnWrite = 2, kOnRead = 3 };
std::string_view name_of(VariableSynchronization value);
bool parse_enum(std::string_view name, VariableSynchronization* value);

enum class VariableAggregation : int32_t { kNone = 0, kSum = 1, kMean = 2, kOnlyFirstReplica = 3 };
std::string_view name_of(VariableAggregation value);
bool parse_enum(std::string_view name, VariableAggregation* value);

// An object of the program; the identifier says of which kind (_generic_user_object, trackable_list_wrapper,
// ...).
struct SavedUserObject {
  std::string identifier;
  std::optional<VersionDef> version;
  std::string metadata;
};

struct SavedAsset {
  int32_t asset_file_def_index = 0;
};

struct SavedFunction {
  std::vector<std::string> concrete_functions;
  std::optional<FunctionSpec> function_spec;
};

struct SavedVariable {
  DataType dtype = DataType::kInvalid;
  std::optional<TensorShapeProto> shape;
  bool trainable = false;
  VariableSynchronization synchronization = VariableSynchronization::kAuto;
  VariableAggregation aggregation = VariableAggregation::kNone;
  std::string name, device;
  std::vector<SavedVariable> experimental_distributed_variable_components;
};

struct SavedBareConcreteFunction {
  std::string concrete_function_name;
  std::vector<std::string> argument_keywords;
  int64_t allowed_positional_arguments = 0;
  std::optional<FunctionSpec> function_spec;
};

struct SavedConstant {
  std::string operation;  // a node of the MetaGraph's graph
};

struct SavedResource {
  std::string device;
};

struct CapturedTensor {
  std::string name, concrete_function;
};

struct SaveableObject {
  int32_t save_function = 0, restore_function = 0;
};

struct SavedObject {
  std::vector<TrackableObjectGraph::ObjectReference> children;
  std::vector<TrackableObjectGraph::SlotVariableReference> slot_variables;
  std::variant<std::monostate, SavedUserObject, SavedAsset, SavedFunction, SavedVariable,
               SavedBareConcreteFunction, SavedConstant, SavedResource, CapturedTensor>
      kind;
  std::map<std::string, SaveableObject> saveable_objects;
  std::string registered_name;
  std::optional<Any> serialized_user_proto;
  std::vector<TrackableObjectGraph::ObjectReference> dependencies;
  std::string registered_saver;
};

struct SavedConcreteFunction {
  std::vector<int32_t> bound_inputs;
  std::optional<StructuredValue> canonicalized_input_signature, output_signature;
};

struct SavedObjectGraph {
  std::vector<SavedObject> nodes;
  std::map<std::string, SavedConcreteFunction> concrete_functions;
};

struct OpList {
  std::vector<OpDef> op;
};

struct MetaGraphDef {
  struct MetaInfoDef {
    std::string meta_graph_version;
    std::optional<OpList> stripped_op_list;
    std::optional<Any> any_info;
    std::vector<std::string> tags;
    std::string tensorflow_version, tensorflow_git_version;
    bool stripped_default_attrs = false;
    std::map<std::string, std::string> function_aliases;
  };
  std::optional<MetaInfoDef> meta_info_def;
  std::optional<GraphDef> graph_def;
  std::optional<SaverDef> saver_def;
  std::map<std::string, CollectionDef> collection_def;
  std::map<std::string, SignatureDef> signature_def;
  std::vector<AssetFileDef> asset_file_def;
  std::optional<SavedObjectGraph> object_graph_def;
};

struct SavedModel {
  int64_t saved_model_schema_version = 0;
  std::vector<MetaGraphDef> meta_graphs;
};

struct FingerprintDef {
  uint64_t saved_model_checksum = 0, graph_def_program_hash = 0, signature_def_hash = 0,
           saved_object_graph_hash = 0, checkpoint_hash = 0;
  std::optional<VersionDef> version;
  std::string uuid;
};

}  // namespace rw::format
