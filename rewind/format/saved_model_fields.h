// The fields of the messages in saved_model.h (see graph_def_fields.h).
#pragma once

#include "rewind/format/object_graph_fields.h"
#include "rewind/format/saved_model.h"
#include "rewind/format/structured_value_fields.h"

namespace rw::format {

template <class V, MessageOf<Any> M>
void fields(V& v, M& m) {
  v.field(1, "type_url", m.type_url);
  v.bytes(2, "value", m.value);
}

template <class V, MessageOf<SaverDef> M>
void fields(V& v, M& m) {
  v.field(1, "filename_tensor_name", m.filename_tensor_name);
  v.field(2, "save_tensor_name", m.save_tensor_name);
  v.field(3, "restore_op_name", m.restore_op_name);
  v.field(4, "max_to_keep", m.max_to_keep);
  v.field(5, "sharded", m.sharded);
  v.field(6, "keep_checkpoint_every_n_hours", m.keep_checkpoint_every_n_hours);
  v.field(7, "version", m.version);
}

template <class V, MessageOf<CollectionDef::NodeList> M>
void fields(V& v, M& m) {
  v.field(1, "value", m.value);
}

template <class V, MessageOf<CollectionDef::BytesList> M>
void fields(V& v, M& m) {
  v.bytes(1, "value", m.value);
}

template <class V, MessageOf<CollectionDef::Int64List> M>
void fields(V& v, M& m) {
  v.field(1, "value", m.value);
}

template <class V, MessageOf<CollectionDef::FloatList> M>
void fields(V& v, M& m) {
  v.field(1, "value", m.value);
}

template <class V, MessageOf<CollectionDef::AnyList> M>
void fields(V& v, M& m) {
  v.field(1, "value", m.value);
}

template <class V, MessageOf<CollectionDef> M>
void fields(V& v, M& m) {
  v.template choice<CollectionDef::NodeList>(1, "node_list", m.kind);
  v.template choice<CollectionDef::BytesList>(2, "bytes_list", m.kind);
  v.template choice<CollectionDef::Int64List>(3, "int64_list", m.kind);
  v.template choice<CollectionDef::FloatList>(4, "float_list", m.kind);
  v.template choice<CollectionDef::AnyList>(5, "any_list", m.kind);
}

template <class V, MessageOf<TensorInfo::CooSparse> M>
void fields(V& v, M& m) {
  v.field(1, "values_tensor_name", m.values_tensor_name);
  v.field(2, "indices_tensor_name", m.indices_tensor_name);
  v.field(3, "dense_shape_tensor_name", m.dense_shape_tensor_name);
}

template <class V, MessageOf<TensorInfo::CompositeTensor> M>
void fields(V& v, M& m) {
  v.field(1, "type_spec", m.type_spec);
  v.field(2, "components", m.components);
}

template <class V, MessageOf<TensorInfo> M>
void fields(V& v, M& m) {
  v.template choice<std::string>(1, "name", m.encoding);
  v.field(2, "dtype", m.dtype);
  v.field(3, "tensor_shape", m.tensor_shape);
  v.template choice<TensorInfo::CooSparse>(4, "coo_sparse", m.encoding);
  v.template choice<TensorInfo::CompositeTensor>(5, "composite_tensor", m.encoding);
}

template <class V, MessageOf<SignatureDef> M>
void fields(V& v, M& m) {
  v.field(1, "inputs", m.inputs);
  v.field(2, "outputs", m.outputs);
  v.field(3, "method_name", m.method_name);
  v.field(4, "defaults", m.defaults);
}

template <class V, MessageOf<AssetFileDef> M>
void fields(V& v, M& m) {
  v.field(1, "tensor_info", m.tensor_info);
  v.field(2, "filename", m.filename);
}

template <class V, MessageOf<FunctionSpec> M>
void fields(V& v, M& m) {
  v.field(1, "fullargspec", m.fullargspec);
  v.field(2, "is_method", m.is_method);
  v.field(5, "input_signature", m.input_signature);
  v.field(6, "jit_compile", m.jit_compile);
}

template <class V, MessageOf<SavedUserObject> M>
void fields(V& v, M& m) {
  v.field(1, "identifier", m.identifier);
  v.field(2, "version", m.version);
  v.field(3, "metadata", m.metadata);
}

template <class V, MessageOf<SavedAsset> M>
void fields(V& v, M& m) {
  v.field(1, "asset_file_def_index", m.asset_file_def_index);
}

template <class V, MessageOf<SavedFunction> M>
void fields(V& v, M& m) {
  v.field(1, "concrete_functions", m.concrete_functions);
  v.field(2, "function_spec", m.function_spec);
}

template <class V, MessageOf<SavedVariable> M>
void fields(V& v, M& m) {
  v.field(1, "dtype", m.dtype);
  v.field(2, "shape", m.shape);
  v.field(3, "trainable", m.trainable);
  v.field(4, "synchronization", m.synchronization);
  v.field(5, "aggregation", m.aggregation);
  v.field(6, "name", m.name);
  v.field(7, "device", m.device);
  v.field(8, "experimental_distributed_variable_components", m.experimental_distributed_variable_components);
}

template <class V, MessageOf<SavedBareConcreteFunction> M>
void fields(V& v, M& m) {
  v.field(1, "concrete_function_name", m.concrete_function_name);
  v.field(2, "argument_keywords", m.argument_keywords);
  v.field(3, "allowed_positional_arguments", m.allowed_positional_arguments);
  v.field(4, "function_spec", m.function_spec);
}

template <class V, MessageOf<SavedConstant> M>
void fields(V& v, M& m) {
  v.field(1, "operation", m.operation);
}

template <class V, MessageOf<SavedResource> M>
void fields(V& v, M& m) {
  v.field(1, "device", m.device);
}

template <class V, MessageOf<CapturedTensor> M>
void fields(V& v, M& m) {
  v.field(1, "name", m.name);
  v.field(2, "concrete_function", m.concrete_function);
}

template <class V, MessageOf<SaveableObject> M>
void fields(V& v, M& m) {
  v.field(2, "save_function", m.save_function);
  v.field(3, "restore_function", m.restore_function);
}

template <class V, MessageOf<SavedObject> M>
void fields(V& v, M& m) {
  v.field(1, "children", m.children);
  v.field(3, "slot_variables", m.slot_variables);
  v.template choice<SavedUserObject>(4, "user_object", m.kind);
  v.template choice<SavedAsset>(5, "asset", m.kind);
  v.template choice<SavedFunction>(6, "function", m.kind);
  v.template choice<SavedVariable>(7, "variable", m.kind);
  v.template choice<SavedBareConcreteFunction>(8, "bare_concrete_function", m.kind);
  v.template choice<SavedConstant>(9, "constant", m.kind);
  v.template choice<SavedResource>(10, "resource", m.kind);
  v.field(11, "saveable_objects", m.saveable_objects);
  v.template choice<CapturedTensor>(12, "captured_tensor", m.kind);
  v.field(13, "registered_name", m.registered_name);
  v.field(14, "serialized_user_proto", m.serialized_user_proto);
  v.field(15, "dependencies", m.dependencies);
  v.field(16, "registered_saver", m.registered_saver);
}

template <class V, MessageOf<SavedConcreteFunction> M>
void fields(V& v, M& m) {
  v.field(2, "bound_inputs", m.bound_inputs);
  v.field(3, "canonicalized_input_signature", m.canonicalized_input_signature);
  v.field(4, "output_signature", m.output_signature);
}

template <class V, MessageOf<SavedObjectGraph> M>
void fields(V& v, M& m) {
  v.field(1, "nodes", m.nodes);
  v.field(2, "concrete_functions", m.concrete_functions);
}

template <class V, MessageOf<OpList> M>
void fields(V& v, M& m) {
  v.field(1, "op", m.op);
}

template <class V, MessageOf<MetaGraphDef::MetaInfoDef> M>
void fields(V& v, M& m) {
  v.field(1, "meta_graph_version", m.meta_graph_version);
  v.field(2, "stripped_op_list", m.stripped_op_list);
  v.field(3, "any_info", m.any_info);
  v.field(4, "tags", m.tags);
  v.field(5, "tensorflow_version", m.tensorflow_version);
  v.field(6, "tensorflow_git_version", m.tensorflow_git_version);
  v.field(7, "stripped_default_attrs", m.stripped_default_attrs);
  v.field(8, "function_aliases", m.function_aliases);
}

template <class V, MessageOf<MetaGraphDef> M>
void fields(V& v, M& m) {
  v.field(1, "meta_info_def", m.meta_info_def);
  v.field(2, "graph_def", m.graph_def);
  v.field(3, "saver_def", m.saver_def);
  v.field(4, "collection_def", m.collection_def);
  v.field(5, "signature_def", m.signature_def);
  v.field(6, "asset_file_def", m.asset_file_def);
  v.field(7, "object_graph_def", m.object_graph_def);
}

template <class V, MessageOf<SavedModel> M>
void fields(V& v, M& m) {
  v.field(1, "saved_model_schema_version", m.saved_model_schema_version);
  v.field(2, "meta_graphs", m.meta_graphs);
}

template <class V, MessageOf<FingerprintDef> M>
void fields(V& v, M& m) {
  v.field(1, "saved_model_checksum", m.saved_model_checksum);
  v.field(2, "graph_def_program_hash", m.graph_def_program_hash);
  v.field(3, "signature_def_hash", m.signature_def_hash);
  v.field(4, "saved_object_graph_hash", m.saved_object_graph_hash);
  v.field(5, "checkpoint_hash", m.checkpoint_hash);
  v.field(6, "version", m.version);
  v.field(7, "uuid", m.uuid);
}

}  // namespace rw::format
