// The fields of the messages in graph_def.h, once for all readers and writers. A visitor has
//   field(number, name, member)   numbers, enums, strings, messages, lists, optional messages and maps of
//   them bytes(number, name, member)   a string (or list) of bytes that need not be text choice<T>(number,
//   name, variant), bytes_choice(...)   one case of a oneof skipped(number, name)         a message that is
//   not kept
#pragma once

#include "rewind/format/graph_def.h"

namespace rw::format {

// `M` is the message or the const message.
template <class M, class Of>
concept MessageOf = std::is_same_v<std::remove_const_t<M>, Of>;

template <class V, MessageOf<TensorShapeProto::Dim> M>
void fields(V& v, M& m) {
  v.field(1, "size", m.size);
  v.field(2, "name", m.name);
}

template <class V, MessageOf<TensorShapeProto> M>
void fields(V& v, M& m) {
  v.field(2, "dim", m.dim);
  v.field(3, "unknown_rank", m.unknown_rank);
}

template <class V, MessageOf<ResourceHandleProto::DtypeAndShape> M>
void fields(V& v, M& m) {
  v.field(1, "dtype", m.dtype);
  v.field(2, "shape", m.shape);
}

template <class V, MessageOf<ResourceHandleProto> M>
void fields(V& v, M& m) {
  v.field(1, "device", m.device);
  v.field(2, "container", m.container);
  v.field(3, "name", m.name);
  v.field(4, "hash_code", m.hash_code);
  v.field(5, "maybe_type_name", m.maybe_type_name);
  v.field(6, "dtypes_and_shapes", m.dtypes_and_shapes);
}

template <class V, MessageOf<VariantTensorDataProto> M>
void fields(V& v, M& m) {
  v.field(1, "type_name", m.type_name);
  v.bytes(2, "metadata", m.metadata);
  v.field(3, "tensors", m.tensors);
}

template <class V, MessageOf<TensorProto> M>
void fields(V& v, M& m) {
  v.field(1, "dtype", m.dtype);
  v.field(2, "tensor_shape", m.tensor_shape);
  v.field(3, "version_number", m.version_number);
  v.bytes(4, "tensor_content", m.tensor_content);
  v.field(5, "float_val", m.float_val);
  v.field(6, "double_val", m.double_val);
  v.field(7, "int_val", m.int_val);
  v.bytes(8, "string_val", m.string_val);
  v.field(9, "scomplex_val", m.scomplex_val);
  v.field(10, "int64_val", m.int64_val);
  v.field(11, "bool_val", m.bool_val);
  v.field(12, "dcomplex_val", m.dcomplex_val);
  v.field(13, "half_val", m.half_val);
  v.field(14, "resource_handle_val", m.resource_handle_val);
  v.field(15, "variant_val", m.variant_val);
  v.field(16, "uint32_val", m.uint32_val);
  v.field(17, "uint64_val", m.uint64_val);
  v.bytes(18, "float8_val", m.float8_val);
}

template <class V, MessageOf<ListValue> M>
void fields(V& v, M& m) {
  v.bytes(2, "s", m.s);
  v.field(3, "i", m.i);
  v.field(4, "f", m.f);
  v.field(5, "b", m.b);
  v.field(6, "type", m.type);
  v.field(7, "shape", m.shape);
  v.field(8, "tensor", m.tensor);
  v.field(9, "func", m.func);
}

template <class V, MessageOf<NameAttrList> M>
void fields(V& v, M& m) {
  v.field(1, "name", m.name);
  v.field(2, "attr", m.attr);
}

template <class V, MessageOf<AttrValue> M>
void fields(V& v, M& m) {
  v.template choice<Box<ListValue>>(1, "list", m.value);
  v.bytes_choice(2, "s", m.value);
  v.template choice<int64_t>(3, "i", m.value);
  v.template choice<float>(4, "f", m.value);
  v.template choice<bool>(5, "b", m.value);
  v.template choice<DataType>(6, "type", m.value);
  v.template choice<TensorShapeProto>(7, "shape", m.value);
  v.template choice<Box<TensorProto>>(8, "tensor", m.value);
  v.skipped(9, "placeholder");
  v.template choice<Box<NameAttrList>>(10, "func", m.value);
}

template <class V, MessageOf<FullTypeDef> M>
void fields(V& v, M& m) {
  v.field(1, "type_id", m.type_id);
  v.field(2, "args", m.args);
  v.template choice<std::string>(3, "s", m.attr);
  v.template choice<int64_t>(4, "i", m.attr);
}

template <class V, MessageOf<NodeDef::ExperimentalDebugInfo> M>
void fields(V& v, M& m) {
  v.field(1, "original_node_names", m.original_node_names);
  v.field(2, "original_func_names", m.original_func_names);
}

template <class V, MessageOf<NodeDef> M>
void fields(V& v, M& m) {
  v.field(1, "name", m.name);
  v.field(2, "op", m.op);
  v.field(3, "input", m.input);
  v.field(4, "device", m.device);
  v.field(5, "attr", m.attr);
  v.field(6, "experimental_debug_info", m.experimental_debug_info);
  v.field(7, "experimental_type", m.experimental_type);
}

template <class V, MessageOf<VersionDef> M>
void fields(V& v, M& m) {
  v.field(1, "producer", m.producer);
  v.field(2, "min_consumer", m.min_consumer);
  v.field(3, "bad_consumers", m.bad_consumers);
}

template <class V, MessageOf<OpDef::ArgDef> M>
void fields(V& v, M& m) {
  v.field(1, "name", m.name);
  v.field(2, "description", m.description);
  v.field(3, "type", m.type);
  v.field(4, "type_attr", m.type_attr);
  v.field(5, "number_attr", m.number_attr);
  v.field(6, "type_list_attr", m.type_list_attr);
  v.field(7, "handle_data", m.handle_data);
  v.field(16, "is_ref", m.is_ref);
  v.field(17, "experimental_full_type", m.experimental_full_type);
}

template <class V, MessageOf<OpDef::AttrDef> M>
void fields(V& v, M& m) {
  v.field(1, "name", m.name);
  v.field(2, "type", m.type);
  v.field(3, "default_value", m.default_value);
  v.field(4, "description", m.description);
  v.field(5, "has_minimum", m.has_minimum);
  v.field(6, "minimum", m.minimum);
  v.field(7, "allowed_values", m.allowed_values);
}

template <class V, MessageOf<OpDeprecation> M>
void fields(V& v, M& m) {
  v.field(1, "version", m.version);
  v.field(2, "explanation", m.explanation);
}

template <class V, MessageOf<OpDef> M>
void fields(V& v, M& m) {
  v.field(1, "name", m.name);
  v.field(2, "input_arg", m.input_arg);
  v.field(3, "output_arg", m.output_arg);
  v.field(4, "attr", m.attr);
  v.field(5, "summary", m.summary);
  v.field(6, "description", m.description);
  v.field(8, "deprecation", m.deprecation);
  v.field(16, "is_aggregate", m.is_aggregate);
  v.field(17, "is_stateful", m.is_stateful);
  v.field(18, "is_commutative", m.is_commutative);
  v.field(19, "allows_uninitialized_input", m.allows_uninitialized_input);
  v.field(20, "control_output", m.control_output);
  v.field(21, "is_distributed_communication", m.is_distributed_communication);
}

template <class V, MessageOf<FunctionDef::ArgAttrs> M>
void fields(V& v, M& m) {
  v.field(1, "attr", m.attr);
}

template <class V, MessageOf<FunctionDef> M>
void fields(V& v, M& m) {
  v.field(1, "signature", m.signature);
  v.field(3, "node_def", m.node_def);
  v.field(4, "ret", m.ret);
  v.field(5, "attr", m.attr);
  v.field(6, "control_ret", m.control_ret);
  v.field(7, "arg_attr", m.arg_attr);
  v.field(8, "resource_arg_unique_id", m.resource_arg_unique_id);
}

template <class V, MessageOf<FunctionDefLibrary::GradientDef> M>
void fields(V& v, M& m) {
  v.field(1, "function_name", m.function_name);
  v.field(2, "gradient_func", m.gradient_func);
}

template <class V, MessageOf<FunctionDefLibrary::RegisteredGradient> M>
void fields(V& v, M& m) {
  v.field(1, "gradient_func", m.gradient_func);
  v.field(2, "registered_op_type", m.registered_op_type);
}

template <class V, MessageOf<FunctionDefLibrary> M>
void fields(V& v, M& m) {
  v.field(1, "function", m.function);
  v.field(2, "gradient", m.gradient);
  v.field(3, "registered_gradients", m.registered_gradients);
}

template <class V, MessageOf<GraphDef> M>
void fields(V& v, M& m) {
  v.field(1, "node", m.node);
  v.field(2, "library", m.library);
  v.field(3, "version", m.version);
  v.field(4, "versions", m.versions);
  v.skipped(5, "debug_info");
}

}  // namespace rw::format
