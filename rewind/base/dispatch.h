// From a DType to a C++ type: dispatch(dtype, set, f) calls f.template operator()<T>() for the element type.
#pragma once

#include <type_traits>
#include <utility>

#include "rewind/base/dtype.h"

namespace rw {

// Calls f.operator()<T>() with the element type if `dtype` is in kSet, and returns true. Only the types in
// kSet are instantiated, so a small set compiles faster.
template <DTypeSet kSet, class F>
bool dispatch(DType dtype, F&& f) {
#define RW_CASE(tag, type)               \
  case tag:                              \
    if constexpr (contains(kSet, tag)) { \
      f.template operator()<type>();     \
      return true;                       \
    } else {                             \
      return false;                      \
    }
  switch (dtype) {
    RW_CASE(DType::kFloat32, float)
    RW_CASE(DType::kFloat64, double)
    RW_CASE(DType::kFloat16, Half)
    RW_CASE(DType::kBfloat16, Bfloat16)
    RW_CASE(DType::kInt8, int8_t)
    RW_CASE(DType::kInt16, int16_t)
    RW_CASE(DType::kInt32, int32_t)
    RW_CASE(DType::kInt64, int64_t)
    RW_CASE(DType::kUint8, uint8_t)
    RW_CASE(DType::kUint16, uint16_t)
    RW_CASE(DType::kUint32, uint32_t)
    RW_CASE(DType::kUint64, uint64_t)
    RW_CASE(DType::kBool, bool)
    RW_CASE(DType::kString, std::string)
    default: return false;
  }
#undef RW_CASE
}

// The type arithmetic happens in: float for the 16-bit floats, the type itself otherwise.
template <class T>
using Compute = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, Bfloat16>, float, T>;

template <class T>
inline constexpr bool is_float_element =
    std::is_floating_point_v<T> || std::is_same_v<T, Half> || std::is_same_v<T, Bfloat16>;

}  // namespace rw
