// The fields of the messages in structured_value.h (see graph_def_fields.h).
#pragma once

#include "rewind/format/graph_def_fields.h"
#include "rewind/format/structured_value.h"

namespace rw::format {

template <class V, MessageOf<NoneValue> M>
void fields(V&, M&) {}

template <class V, MessageOf<StructuredList> M>
void fields(V& v, M& m) {
  v.field(1, "values", m.values);
}

template <class V, MessageOf<StructuredTuple> M>
void fields(V& v, M& m) {
  v.field(1, "values", m.values);
}

template <class V, MessageOf<StructuredDict> M>
void fields(V& v, M& m) {
  v.field(1, "fields", m.fields);
}

template <class V, MessageOf<StructuredPair> M>
void fields(V& v, M& m) {
  v.field(1, "key", m.key);
  v.field(2, "value", m.value);
}

template <class V, MessageOf<StructuredNamedTuple> M>
void fields(V& v, M& m) {
  v.field(1, "name", m.name);
  v.field(2, "values", m.values);
}

template <class V, MessageOf<TensorSpecProto> M>
void fields(V& v, M& m) {
  v.field(1, "name", m.name);
  v.field(2, "shape", m.shape);
  v.field(3, "dtype", m.dtype);
}

template <class V, MessageOf<BoundedTensorSpecProto> M>
void fields(V& v, M& m) {
  v.field(1, "name", m.name);
  v.field(2, "shape", m.shape);
  v.field(3, "dtype", m.dtype);
  v.field(4, "minimum", m.minimum);
  v.field(5, "maximum", m.maximum);
}

template <class V, MessageOf<NumpyValue> M>
void fields(V& v, M& m) {
  fields(v, static_cast<std::conditional_t<std::is_const_v<M>, const TensorProto, TensorProto>&>(m));
}

template <class V, MessageOf<TypeSpecProto> M>
void fields(V& v, M& m) {
  v.field(1, "type_spec_class", m.type_spec_class);
  v.field(2, "type_state", m.type_state);
  v.field(3, "type_spec_class_name", m.type_spec_class_name);
  v.field(4, "num_flat_components", m.num_flat_components);
}

template <class V, MessageOf<StructuredValue> M>
void fields(V& v, M& m) {
  v.template choice<NoneValue>(1, "none_value", m.kind);
  v.template choice<double>(11, "float64_value", m.kind);
  v.template choice<SInt64>(12, "int64_value", m.kind);
  v.template choice<std::string>(13, "string_value", m.kind);
  v.template choice<bool>(14, "bool_value", m.kind);
  v.template choice<TensorShapeProto>(31, "tensor_shape_value", m.kind);
  v.template choice<DataType>(32, "tensor_dtype_value", m.kind);
  v.template choice<TensorSpecProto>(33, "tensor_spec_value", m.kind);
  v.template choice<Box<TypeSpecProto>>(34, "type_spec_value", m.kind);
  v.template choice<BoundedTensorSpecProto>(35, "bounded_tensor_spec_value", m.kind);
  v.template choice<Box<StructuredList>>(51, "list_value", m.kind);
  v.template choice<Box<StructuredTuple>>(52, "tuple_value", m.kind);
  v.template choice<Box<StructuredDict>>(53, "dict_value", m.kind);
  v.template choice<Box<StructuredNamedTuple>>(54, "named_tuple_value", m.kind);
  v.template choice<TensorProto>(55, "tensor_value", m.kind);
  v.template choice<NumpyValue>(56, "numpy_value", m.kind);
}

}  // namespace rw::format
