// Names of the enums' numbers.
#include <array>

#include "rewind/format/graph_def.h"

namespace rw::format {
namespace {

constexpr std::array kTypes = {"INVALID",
                               "FLOAT",
                               "DOUBLE",
                               "INT32",
                               "UINT8",
                               "INT16",
                               "INT8",
                               "STRING",
                               "COMPLEX64",
                               "INT64",
                               "BOOL",
                               "QINT8",
                               "QUINT8",
                               "QINT32",
                               "BFLOAT16",
                               "QINT16",
                               "QUINT16",
                               "UINT16",
                               "COMPLEX128",
                               "HALF",
                               "RESOURCE",
                               "VARIANT",
                               "UINT32",
                               "UINT64",
                               "FLOAT8_E5M2",
                               "FLOAT8_E4M3FN",
                               "FLOAT8_E4M3FNUZ",
                               "FLOAT8_E4M3B11FNUZ",
                               "FLOAT8_E5M2FNUZ",
                               "INT4",
                               "UINT4",
                               "INT2",
                               "UINT2",
                               "FLOAT4_E2M1FN"};
// A reference to a value of type t, from before resource variables, has the number t + 100.
constexpr int kRef = 100;

struct TypeNames {
  std::array<std::string, kTypes.size()> plain, ref;
  TypeNames() {
    for (size_t i = 0; i < kTypes.size(); ++i) {
      plain[i] = std::string("DT_") + kTypes[i];
      ref[i] = i ? plain[i] + "_REF" : "";
    }
  }
};
const TypeNames& type_names() {
  static const auto& names = *new TypeNames;
  return names;
}

struct FullType {
  int32_t number;
  std::string_view name;
};
constexpr FullType kFullTypes[] = {{0, "TFT_UNSET"},
                                   {1, "TFT_VAR"},
                                   {2, "TFT_ANY"},
                                   {3, "TFT_PRODUCT"},
                                   {4, "TFT_NAMED"},
                                   {20, "TFT_FOR_EACH"},
                                   {100, "TFT_CALLABLE"},
                                   {200, "TFT_BOOL"},
                                   {201, "TFT_UINT8"},
                                   {202, "TFT_UINT16"},
                                   {203, "TFT_UINT32"},
                                   {204, "TFT_UINT64"},
                                   {205, "TFT_INT8"},
                                   {206, "TFT_INT16"},
                                   {207, "TFT_INT32"},
                                   {208, "TFT_INT64"},
                                   {209, "TFT_HALF"},
                                   {210, "TFT_FLOAT"},
                                   {211, "TFT_DOUBLE"},
                                   {212, "TFT_COMPLEX64"},
                                   {213, "TFT_COMPLEX128"},
                                   {214, "TFT_STRING"},
                                   {215, "TFT_BFLOAT16"},
                                   {1000, "TFT_TENSOR"},
                                   {1001, "TFT_ARRAY"},
                                   {1002, "TFT_OPTIONAL"},
                                   {1003, "TFT_LITERAL"},
                                   {1004, "TFT_ENCODED"},
                                   {1005, "TFT_SHAPE_TENSOR"},
                                   {10102, "TFT_DATASET"},
                                   {10103, "TFT_RAGGED"},
                                   {10104, "TFT_ITERATOR"},
                                   {10202, "TFT_MUTEX_LOCK"},
                                   {10203, "TFT_LEGACY_VARIANT"}};

}  // namespace

std::string_view name_of(DataType type) {
  const auto number = int32_t(type);
  if (number >= 0 && size_t(number) < kTypes.size()) return type_names().plain[size_t(number)];
  if (number > kRef && size_t(number - kRef) < kTypes.size()) return type_names().ref[size_t(number - kRef)];
  return {};
}

bool parse_enum(std::string_view name, DataType* type) {
  for (size_t i = 0; i < kTypes.size(); ++i) {
    const bool ref = name == type_names().ref[i] && i > 0;
    if (!ref && name != type_names().plain[i]) continue;
    *type = DataType(int32_t(i) + (ref ? kRef : 0));
    return true;
  }
  return false;
}

std::string_view name_of(FullTypeId type) {
  for (const FullType& t : kFullTypes)
    if (t.number == int32_t(type)) return t.name;
  return {};
}

bool parse_enum(std::string_view name, FullTypeId* type) {
  for (const FullType& t : kFullTypes) {
    if (t.name != name) continue;
    *type = FullTypeId(t.number);
    return true;
  }
  return false;
}

}  // namespace rw::format
