// Nested Python values, as the signatures of functions in SavedModels hold them:
//
//   StructuredValue  one of: 1 none_value   11 float64_value   12 int64_value (sint64)   13 string_value
//                    14 bool_value   31 tensor_shape_value   32 tensor_dtype_value   33 tensor_spec_value
//                    34 type_spec_value   35 bounded_tensor_spec_value   51 list_value: {1 values}
//                    52 tuple_value: {1 values}   53 dict_value: {1 fields: map}
//                    54 named_tuple_value: {1 name, 2 values: {1 key, 2 value}}   55 tensor_value
//                    56 numpy_value
//   TensorSpecProto  1 name   2 shape   3 dtype   (and in BoundedTensorSpecProto 4 minimum   5 maximum)
//   TypeSpecProto    1 type_spec_class   2 type_state   3 type_spec_class_name   4 num_flat_components
#pragma once

#include <map>
#include <variant>

#include "rewind/format/field_types.h"
#include "rewind/format/tensor_proto.h"

namespace rw::format {

struct StructuredValue;
struct StructuredPair;

struct NoneValue {};

struct StructuredList {
  std::vector<StructuredValue> values;
};

struct StructuredTuple {
  std::vector<StructuredValue> values;
};

struct StructuredDict {
  std::map<std::string, StructuredValue> fields;
};

struct StructuredNamedTuple {
  std::string name;
  std::vector<StructuredPair> values;
};

struct TensorSpecProto {
  std::string name;
  std::optional<TensorShapeProto> shape;
  DataType dtype = DataType::kInvalid;
};

struct BoundedTensorSpecProto {
  std::string name;
  std::optional<TensorShapeProto> shape;
  DataType dtype = DataType::kInvalid;
  std::optional<TensorProto> minimum, maximum;
};

struct NumpyValue : TensorProto {};

struct TypeSpecProto;

struct StructuredValue {
  std::variant<std::monostate, NoneValue, double, SInt64, std::string, bool, TensorShapeProto, DataType,
               TensorSpecProto, Box<TypeSpecProto>, BoundedTensorSpecProto, Box<StructuredList>,
               Box<StructuredTuple>, Box<StructuredDict>, Box<StructuredNamedTuple>, TensorProto, NumpyValue>
      kind;
};

struct StructuredPair {
  std::string key;
  std::optional<StructuredValue> value;
};

enum class TypeSpecClass : int32_t {
  kUnknown = 0,
  kSparseTensor = 1,
  kIndexedSlices = 2,
  kRaggedTensor = 3,
  kTensorArray = 4,
  kDataset = 5,
  kIterator = 6,
  kOptional = 7,
  kPerReplica = 8,
  kVariable = 9,
  kRowPartition = 10,
  kRegistered = 12,
  kExtension = 13
};
std::string_view name_of(TypeSpecClass value);
bool parse_enum(std::string_view name, TypeSpecClass* value);

struct TypeSpecProto {
  TypeSpecClass type_spec_class = TypeSpecClass::kUnknown;
  std::optional<StructuredValue> type_state;
  std::string type_spec_class_name;
  int32_t num_flat_components = 0;
};

}  // namespace rw::format
