// Tensors as messages:
//
//   TensorShapeProto     2 dim: {1 size (-1: unknown), 2 name}   3 unknown_rank
//   TensorProto          1 dtype   2 tensor_shape   3 version_number   and the elements, either
//                        4 tensor_content: the elements' bytes, little-endian, row-major; or values of one
//                        list: 5 float_val   6 double_val   7 int_val (int8 to int32, uint8, uint16)   8
//                        string_val 9 scomplex_val, 12 dcomplex_val (real and imaginary part in turn)   10
//                        int64_val 11 bool_val   13 half_val (bits of half and bfloat16)   14
//                        resource_handle_val 15 variant_val   16 uint32_val   17 uint64_val   18 float8_val
//                        (a byte each) A list may be shorter than the tensor: its last value repeats; an
//                        empty one means zeros.
//   ResourceHandleProto  1 device   2 container   3 name   4 hash_code   5 maybe_type_name
//                        6 dtypes_and_shapes: {1 dtype, 2 shape}
//   VariantTensorDataProto  1 type_name   2 metadata   3 tensors
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rewind/format/message.h"

namespace rw::format {

// Numbers are TensorFlow's DataType, and so those of rw::DType; a file may hold numbers that have no name
// here.
enum class DataType : int32_t { kInvalid = 0 };
std::string_view name_of(DataType type);  // "DT_FLOAT"; empty when the number has no name
bool parse_enum(std::string_view name, DataType* type);

struct TensorShapeProto {
  struct Dim {
    int64_t size = 0;
    std::string name;
  };
  std::vector<Dim> dim;
  bool unknown_rank = false;
};

struct ResourceHandleProto {
  struct DtypeAndShape {
    DataType dtype = DataType::kInvalid;
    std::optional<TensorShapeProto> shape;
  };
  std::string device, container, name;
  uint64_t hash_code = 0;
  std::string maybe_type_name;
  std::vector<DtypeAndShape> dtypes_and_shapes;
};

struct VariantTensorDataProto;

struct TensorProto {
  DataType dtype = DataType::kInvalid;
  std::optional<TensorShapeProto> tensor_shape;
  int32_t version_number = 0;
  std::string tensor_content;
  std::vector<float> float_val;
  std::vector<double> double_val;
  std::vector<int32_t> int_val;
  std::vector<std::string> string_val;
  std::vector<float> scomplex_val;
  std::vector<int64_t> int64_val;
  std::vector<bool> bool_val;
  std::vector<double> dcomplex_val;
  std::vector<int32_t> half_val;
  std::vector<ResourceHandleProto> resource_handle_val;
  std::vector<Box<VariantTensorDataProto>> variant_val;
  std::vector<uint32_t> uint32_val;
  std::vector<uint64_t> uint64_val;
  std::string float8_val;
};

struct VariantTensorDataProto {
  std::string type_name;
  std::string metadata;
  std::vector<TensorProto> tensors;
};

}  // namespace rw::format
