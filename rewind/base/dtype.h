// Element types. Numbers are those of TensorFlow's DataType, so that they are written to files as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "rewind/base/half.h"

namespace rw {

enum class DType : uint8_t {
  kInvalid = 0,
  kFloat32 = 1,
  kFloat64 = 2,
  kInt32 = 3,
  kUint8 = 4,
  kInt16 = 5,
  kInt8 = 6,
  kString = 7,
  kComplex64 = 8,
  kInt64 = 9,
  kBool = 10,
  kQint8 = 11,  // the quantised types appear in TensorFlow's schemas only; no kernel takes them
  kQuint8 = 12,
  kQint32 = 13,
  kBfloat16 = 14,
  kQint16 = 15,
  kQuint16 = 16,
  kUint16 = 17,
  kComplex128 = 18,
  kFloat16 = 19,
  kResource = 20,
  kVariant = 21,
  kUint32 = 22,
  kUint64 = 23,
};

inline constexpr DType float16 = DType::kFloat16, half = DType::kFloat16, bfloat16 = DType::kBfloat16,
                       float32 = DType::kFloat32, float64 = DType::kFloat64, int8 = DType::kInt8,
                       int16 = DType::kInt16, int32 = DType::kInt32, int64 = DType::kInt64,
                       uint8 = DType::kUint8, uint16 = DType::kUint16, uint32 = DType::kUint32,
                       uint64 = DType::kUint64, bool_ = DType::kBool, string = DType::kString,
                       resource = DType::kResource, variant = DType::kVariant;

// Bytes of one element as it lies in a buffer; strings are std::string, resources and variants one pointer.
size_t size_of(DType dtype);
// TensorFlow's name: "float32", "bool", "string". parse_dtype takes these and the schema's ("float", "half");
// kInvalid when there is none.
std::string_view name_of(DType dtype);
DType parse_dtype(std::string_view name);

// Sets of types are bit masks over the enum's numbers.
using DTypeSet = uint64_t;
constexpr DTypeSet set_of(DType dtype) { return DTypeSet{1} << unsigned(dtype); }
template <class... D>
constexpr DTypeSet set_of(DType first, D... rest) {
  return (set_of(first) | ... | set_of(rest));
}
constexpr bool contains(DTypeSet set, DType dtype) { return (set >> unsigned(dtype)) & 1; }
std::string to_string(DTypeSet set);  // "float32, float64"

inline constexpr DTypeSet kFloatTypes =
    set_of(DType::kFloat16, DType::kBfloat16, DType::kFloat32, DType::kFloat64);
inline constexpr DTypeSet kSignedTypes = set_of(DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64);
inline constexpr DTypeSet kUnsignedTypes =
    set_of(DType::kUint8, DType::kUint16, DType::kUint32, DType::kUint64);
inline constexpr DTypeSet kIntTypes = kSignedTypes | kUnsignedTypes;
inline constexpr DTypeSet kRealTypes = kFloatTypes | kIntTypes;
inline constexpr DTypeSet kComplexTypes = set_of(DType::kComplex64, DType::kComplex128);
inline constexpr DTypeSet kHostOnlyTypes = set_of(DType::kString, DType::kResource, DType::kVariant);
inline constexpr DTypeSet kAllTypes = kRealTypes | kComplexTypes | kHostOnlyTypes | set_of(DType::kBool);

constexpr bool is_floating(DType dtype) { return contains(kFloatTypes, dtype); }
constexpr bool is_integer(DType dtype) { return contains(kIntTypes, dtype); }
constexpr bool is_unsigned(DType dtype) { return contains(kUnsignedTypes, dtype); }
// What a tape follows: the types that have derivatives.
constexpr bool is_differentiable(DType dtype) { return contains(kFloatTypes | kComplexTypes, dtype); }
constexpr bool is_host_only(DType dtype) { return contains(kHostOnlyTypes, dtype); }

template <class T>
inline constexpr DType dtype_of = DType::kInvalid;
template <>
inline constexpr DType dtype_of<float> = DType::kFloat32;
template <>
inline constexpr DType dtype_of<double> = DType::kFloat64;
template <>
inline constexpr DType dtype_of<Half> = DType::kFloat16;
template <>
inline constexpr DType dtype_of<Bfloat16> = DType::kBfloat16;
template <>
inline constexpr DType dtype_of<int8_t> = DType::kInt8;
template <>
inline constexpr DType dtype_of<int16_t> = DType::kInt16;
template <>
inline constexpr DType dtype_of<int32_t> = DType::kInt32;
template <>
inline constexpr DType dtype_of<int64_t> = DType::kInt64;
template <>
inline constexpr DType dtype_of<long long> = DType::kInt64;
template <>
inline constexpr DType dtype_of<uint8_t> = DType::kUint8;
template <>
inline constexpr DType dtype_of<uint16_t> = DType::kUint16;
template <>
inline constexpr DType dtype_of<uint32_t> = DType::kUint32;
template <>
inline constexpr DType dtype_of<uint64_t> = DType::kUint64;
template <>
inline constexpr DType dtype_of<unsigned long long> = DType::kUint64;
template <>
inline constexpr DType dtype_of<bool> = DType::kBool;
template <>
inline constexpr DType dtype_of<std::string> = DType::kString;

template <class T>
concept Element = dtype_of<T> != DType::kInvalid;

}  // namespace rw
