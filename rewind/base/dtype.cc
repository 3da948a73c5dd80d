#include "rewind/base/dtype.h"

#include <array>

namespace rw {
namespace {

struct Row {
  DType dtype;
  uint8_t size;
  std::string_view name;    // TensorFlow's Python name
  std::string_view schema;  // the name in an op's schema, where it differs
};

constexpr Row kRows[] = {
    {DType::kInvalid, 0, "invalid", ""},
    {DType::kFloat32, 4, "float32", "float"},
    {DType::kFloat64, 8, "float64", "double"},
    {DType::kInt32, 4, "int32", ""},
    {DType::kUint8, 1, "uint8", ""},
    {DType::kInt16, 2, "int16", ""},
    {DType::kInt8, 1, "int8", ""},
    {DType::kString, sizeof(std::string), "string", ""},
    {DType::kComplex64, 8, "complex64", ""},
    {DType::kInt64, 8, "int64", ""},
    {DType::kBool, 1, "bool", ""},
    {DType::kQint8, 1, "qint8", ""},
    {DType::kQuint8, 1, "quint8", ""},
    {DType::kQint32, 4, "qint32", ""},
    {DType::kBfloat16, 2, "bfloat16", ""},
    {DType::kQint16, 2, "qint16", ""},
    {DType::kQuint16, 2, "quint16", ""},
    {DType::kUint16, 2, "uint16", ""},
    {DType::kComplex128, 16, "complex128", ""},
    {DType::kFloat16, 2, "float16", "half"},
    {DType::kResource, sizeof(void*), "resource", ""},
    {DType::kVariant, sizeof(void*), "variant", ""},
    {DType::kUint32, 4, "uint32", ""},
    {DType::kUint64, 8, "uint64", ""},
};

constexpr bool rows_in_order() {
  for (size_t i = 0; i < std::size(kRows); ++i)
    if (size_t(kRows[i].dtype) != i) return false;
  return true;
}
static_assert(rows_in_order());

}  // namespace

size_t size_of(DType dtype) { return kRows[size_t(dtype)].size; }
std::string_view name_of(DType dtype) { return kRows[size_t(dtype)].name; }

DType parse_dtype(std::string_view name) {
  for (const Row& row : kRows)
    if (name == row.name || (!row.schema.empty() && name == row.schema)) return row.dtype;
  return DType::kInvalid;
}

std::string to_string(DTypeSet set) {
  std::string text;
  for (const Row& row : kRows) {
    if (!contains(set, row.dtype)) continue;
    if (!text.empty()) text += ", ";
    text += row.name;
  }
  return text;
}

}  // namespace rw
